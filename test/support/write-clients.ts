import { allClients, generateClients } from './generate.ts'

/** `npm run generate`. */
if (!(await generateClients(allClients))) process.exitCode = 1
