import { buildExplorer } from './build-explorer.ts'

/** `npm run build:explorer`. */
await buildExplorer()
