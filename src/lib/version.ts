import { readFileSync } from 'node:fs'

/** Returns the version of this program, from the package file two folders above the folder of this file. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text)
  return String(version)
}
