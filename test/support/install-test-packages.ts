import { fileURLToPath } from 'node:url'
import { installPackages } from './install-packages.ts'

/** `npm run test:install`: installs the packages that only the tests need. */
installPackages(fileURLToPath(new URL('..', import.meta.url)))
