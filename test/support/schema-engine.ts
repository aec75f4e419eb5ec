import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import type { MigrationDirectory, MigrationList } from '@prisma/schema-engine-wasm'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import { type QueryConfig, types } from 'pg'
import { adapterInfo, sqliteConnection } from '../../src/store/sqlite/adapter.ts'
import { databaseUrl, onServer } from './postgresql-server.ts'

/** Runs Prisma's schema engine as WebAssembly, because the Prisma command line would download one. Development only. */

/** The files of one of the two schemas. */
export interface SchemaFiles {
  readonly provider: 'sqlite' | 'postgresql'
  readonly schema: string
  /** The path of the folder with one folder per migration. */
  readonly migrations: string
}

/** The schema of SQLite, which is written by hand. */
export const sqliteFiles: SchemaFiles = {
  provider: 'sqlite',
  schema: pathOf('schema.prisma'),
  migrations: pathOf('migrations'),
}

/** The schema of PostgreSQL, which is derived from that of SQLite. */
export const postgresqlFiles: SchemaFiles = {
  provider: 'postgresql',
  schema: pathOf('postgresql/schema.prisma'),
  migrations: pathOf('postgresql/migrations'),
}

/** The SQL that changes the result of the migrations to the schema; empty if both are equal. */
export async function migrationScript(
  files: SchemaFiles,
  adapter: SqlMigrationAwareDriverAdapterFactory,
): Promise<string> {
  await loaded
  const schema = { path: files.schema, content: readFileSync(files.schema, 'utf8') }
  const engine = await bindings.SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(adapter),
  )
  try {
    const difference = await engine.diff({
      from: { tag: 'migrations', ...migrationsOf(files) },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return difference.exitCode === 0 ? '' : (difference.stdout ?? '')
  } finally {
    engine.free()
  }
}

/** Databases in memory. The engine sends a migration as one statement, but the driver runs several statements only as a script. */
export function sqliteForScripts(): SqlMigrationAwareDriverAdapterFactory {
  const connect = async () => sqliteConnection(new DatabaseSync(':memory:'))
  const connectToShadowDb = async () => {
    const connection = await connect()
    const executeRaw: typeof connection.executeRaw = async (query) => {
      if (query.args.length > 0) return await connection.executeRaw(query)
      await connection.executeScript(query.sql)
      return 0
    }
    return { ...connection, executeRaw }
  }
  return { ...adapterInfo, connect, connectToShadowDb }
}

/** Databases on a server, which are dropped after use. The engine needs the type `"char"`, which the driver does not support. */
export function postgresqlForScripts(url: string): PrismaPg {
  const adapter = new PrismaPg({ connectionString: url, max: 1 })
  adapter.connectToShadowDb = async () => {
    // The driver's own function uses the database of the URL and does not drop the other one.
    const name = `ledger_gateway_shadow_${randomBytes(8).toString('hex')}`
    await onServer(url, `CREATE DATABASE ${name}`)
    const shadow = new PrismaPg({ connectionString: databaseUrl(url, name), max: 1 })
    const connection = await shadow.connect()
    const dispose = connection.dispose.bind(connection)
    connection.dispose = async () => {
      await dispose()
      await onServer(url, `DROP DATABASE ${name}`)
    }
    let letters: number[] = []
    const pool = connection.underlyingDriver()
    const query = pool.query.bind(pool)
    const queryKnownTypes = async (config: QueryConfig) => {
      const result = await query(config)
      // The result of several statements is a list without `fields`.
      const { fields = [] } = result
      letters = fields.flatMap(({ dataTypeID }, i) => (dataTypeID === types.builtins.CHAR ? i : []))
      for (const i of letters) Object.assign(fields[i] ?? {}, { dataTypeID: types.builtins.TEXT })
      return result
    }
    Object.assign(pool, { query: queryKnownTypes })
    const queryRaw = connection.queryRaw.bind(connection)
    connection.queryRaw = async (request) => {
      const rows = await queryRaw(request)
      for (const i of letters) rows.columnTypes[i] = ColumnTypeEnum.Character
      return rows
    }
    return connection
  }
  return adapter
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../prisma/${name}`, import.meta.url))
}

function migrationsOf({ provider, migrations }: SchemaFiles): MigrationList {
  return {
    baseDir: migrations,
    lockfile: { path: 'migration_lock.toml', content: `provider = "${provider}"\n` },
    shadowDbInitScript: '',
    migrationDirectories: readdirSync(migrations)
      .sort()
      .map((name) => migrationIn(migrations, name)),
  }
}

function migrationIn(folder: string, name: string): MigrationDirectory {
  const content = readFileSync(join(folder, name, 'migration.sql'), 'utf8')
  return {
    path: name,
    migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: content } },
  }
}

/** Connects the `.wasm` file of the package to its bindings. The package imports the file as a module, which Node does not support. */
const loaded = load()

async function load(): Promise<void> {
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const wasm = readFileSync(path.replace(/\.js$/, '.wasm'))
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WasmRuntime }
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings })
  const internals = bindings as unknown as { __wbg_set_wasm(exports: object): void }
  internals.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
}

/** The used part of WebAssembly, which the types of Node do not declare. */
interface WasmRuntime {
  instantiate(
    code: Uint8Array,
    imports: object,
  ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>
}
