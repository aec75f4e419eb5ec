import { buildExplorer } from './build-explorer.ts'

/** `npm run build:explorer`: builds the explorer. */
await buildExplorer()
