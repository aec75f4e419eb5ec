import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { makeJSONPgSmartTagsPlugin } from 'postgraphile/utils'
import { databaseUrl, serve } from './serve.ts'

/** PostGraphile 5 on the gateway's tables, for reading. */

/** Enables conditions on columns of bytes, which PostGraphile does not allow by default. */
const byAddress = makeJSONPgSmartTagsPlugin({
  version: 1,
  config: {
    class: {
      ledger_updates: { attribute: { address: { tags: { behavior: '+attribute:filterBy' } } } },
    },
  },
})

const service = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [byAddress],
  pgServices: [makePgService({ connectionString: databaseUrl, schemas: ['public'] })],
  schema: { defaultBehavior: '-insert -update -delete' },
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false, websockets: false },
  grafast: { explain: false },
})
const server = createServer()
await service.createServ(grafserv).addTo(server)
serve(server)
