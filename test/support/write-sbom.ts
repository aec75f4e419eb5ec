import { sbomText } from './sbom.ts'

/** `npm run sbom`: prints the bill of materials of production. */
process.stdout.write(await sbomText())
