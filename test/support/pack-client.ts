import { fileURLToPath } from 'node:url'
import { packClient } from './packed.ts'

/** `npm run pack:client`: packs the client into `dist`, and leaves the unpacked package there. */
console.log(await packClient(fileURLToPath(new URL('../../dist', import.meta.url))))
