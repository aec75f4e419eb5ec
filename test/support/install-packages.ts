import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs the packages of a folder with its own lock file, if they are missing or were installed from another version of the
 * lock file.
 */
export function installPackages(folder: string, ...options: readonly string[]): void {
  const installed = join(folder, 'node_modules/.installed')
  const locked = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === locked) return
  // Standard output is reserved for the result of a command.
  process.stderr.write(`Installing packages into ${join(folder, 'node_modules')} …\n`)
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  writeFileSync(installed, locked)
}
