import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePostgresqlSchema } from './postgresql-schema.ts'
import { startPostgresql } from './postgresql-server.ts'
import {
  migrationScript,
  postgresqlFiles,
  postgresqlForScripts,
  sqliteFiles,
  sqliteForScripts,
} from './schema-engine.ts'

/** `npm run migration -- NAME`: writes the differences between the schemas and their migrations as new migrations. */

const name = process.argv[2]
if (name === undefined || !/^[a-z0-9_]+$/.test(name)) {
  console.error('usage: npm run migration -- NAME (lower-case letters, digits and underscores)')
  process.exit(2)
}

writePostgresqlSchema()
const server = await startPostgresql()
try {
  const scripts = [
    [sqliteFiles, await migrationScript(sqliteFiles, sqliteForScripts())],
    [postgresqlFiles, await migrationScript(postgresqlFiles, postgresqlForScripts(server.url))],
  ] as const
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  for (const [{ provider, migrations }, script] of scripts) {
    if (script === '') {
      console.log(`${provider}: the migrations match the schema; wrote no migration`)
      continue
    }
    const folder = join(migrations, `${stamp}_${name}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'migration.sql'), script)
    console.log(folder)
  }
} finally {
  await server.stop()
}
