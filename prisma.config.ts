import { defineConfig } from 'prisma-cli/config'

/** For Prisma's command line: the schema and the migrations of the database that DATABASE_URL names, as the program reads them. */

const url = process.env.DATABASE_URL ?? 'file:./data/ledger-gateway.db'
const folder = /^postgres(ql)?:/.test(url) ? 'prisma/postgresql' : 'prisma'

export default defineConfig({
  schema: `${folder}/schema.prisma`,
  migrations: { path: `${folder}/migrations` },
  datasource: { url },
})
