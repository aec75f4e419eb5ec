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
import { adapterInfo, sqliteConnection } from '../../src/store/sqlite-adapter.ts'
import { databaseUrl, onServer } from './postgresql-server.ts'

/** Asks Prisma's schema engine, run as WebAssembly, for the Prisma command line would download one. Development only. */

/** One of the two sets of tables, as files. */
export interface SchemaFiles {
  readonly provider: 'sqlite' | 'postgresql'
  readonly schema: string
  /** One folder each. */
  readonly migrations: string
}

/** The schema that is written by hand. */
export const sqliteFiles: SchemaFiles = {
  provider: 'sqlite',
  schema: pathOf('schema.prisma'),
  migrations: pathOf('migrations'),
}

/** The schema that is derived from it. */
export const postgresqlFiles: SchemaFiles = {
  provider: 'postgresql',
  schema: pathOf('postgresql/schema.prisma'),
  migrations: pathOf('postgresql/migrations'),
}

/** The SQL that leads from what the migrations make to what the schema says; empty when they agree. */
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

/** A database in memory. The engine sends a migration as one statement, and the driver takes many only as a script. */
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

/** Databases on a server, gone when they were used. The driver does not know the type of single letters, the engine does. */
export function postgresqlForScripts(url: string): PrismaPg {
  const adapter = new PrismaPg({ connectionString: url, max: 1 })
  adapter.connectToShadowDb = async () => {
    // The driver's own way ends in the database of the URL, and leaves the other one behind.
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
      // Several statements have several results, and no fields.
      const { fields = [] } = result
      letters = fields.flatMap(({ dataTypeID }, i) => (dataTypeID === types.builtins.CHAR ? i : []))
      for (const i of letters) Object.assign(fields[i] ?? {}, { dataTypeID: types.builtins.TEXT })
      return result
    }
    Object.assign(pool, { query: queryKnownTypes })
    const queryRaw = connection.queryRaw.bind(connection)
    connection.queryRaw = async (asked) => {
      const rows = await queryRaw(asked)
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

/** The package imports its `.wasm` as a module, which Node does not do yet; so the two halves are put together here. */
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

/** The part of WebAssembly needed here; Node's own types leave it out. */
interface WasmRuntime {
  instantiate(
    code: Uint8Array,
    imports: object,
  ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>
}
