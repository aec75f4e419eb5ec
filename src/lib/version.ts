import { readFileSync } from 'node:fs'

/** The version of this program, from the package file that stands two folders above this one's. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text)
  return String(version)
}
