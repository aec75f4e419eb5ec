import { writeExplorerDocuments } from './explorer-documents.ts'
import { allClients, checkout, generateClients } from './generate.ts'

/** `npm run generate`: generates the database clients and the documents of the explorer. */
if (!(await generateClients(allClients))) process.exitCode = 1
writeExplorerDocuments(checkout.root)
