import { defineConfig } from 'prisma-cli/config'
import { isPostgresqlUrl } from './src/store/url.ts'

/** For Prisma's command line: the schema and the migrations of the database that DATABASE_URL names, as the program reads them. */

const url = process.env.DATABASE_URL ?? 'file:./data/ledger-gateway.db'
const folder = isPostgresqlUrl(url) ? 'prisma/postgresql' : 'prisma'

export default defineConfig({
  schema: `${folder}/schema.prisma`,
  migrations: { path: `${folder}/migrations` },
  datasource: { url },
})
