import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { present } from '../../src/lib/assert.ts'

/** The statements of the migration that publish the current state of the log, for use after a test changed it without the store. */
export function statementsToPublish(kind: 'sqlite' | 'postgresql'): readonly string[] {
  const folder = kind === 'sqlite' ? 'migrations/' : 'postgresql/migrations/'
  const path = fileURLToPath(new URL(`../../prisma/${folder}`, import.meta.url))
  const name = readdirSync(path).find((one) => one.endsWith('_published_tip'))
  const script = readFileSync(join(path, present(name, 'the migration'), 'migration.sql'), 'utf8')
  return ['DELETE FROM published_tip', script.slice(script.indexOf('INSERT'))]
}
