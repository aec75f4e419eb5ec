import { checkout } from './build-explorer.ts'
import { writeExplorerDocuments } from './explorer-documents.ts'
import { allClients, generateClients } from './generate.ts'

/** `npm run generate`. */
if (!(await generateClients(allClients))) process.exitCode = 1
writeExplorerDocuments(checkout.root)
