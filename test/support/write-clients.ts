import { generateClients } from './generate.ts'

/** `npm run generate`. */
if (!(await generateClients())) process.exitCode = 1
