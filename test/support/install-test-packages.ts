import { fileURLToPath } from 'node:url'
import { installPackages } from './install-packages.ts'

/** `npm run test:install`: what the tests alone need. */
installPackages(fileURLToPath(new URL('..', import.meta.url)))
