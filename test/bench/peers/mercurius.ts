import Fastify from 'fastify'
import mercurius from 'mercurius'
import { pageOf, type Question } from './pages.ts'
import { serve } from './serve.ts'

/** Mercurius with compiled queries on prepared SQL. */

const schema = /* GraphQL */ `
  scalar UInt32
  scalar UInt64
  scalar Hex
  enum UpdateClass { OWNED MENTIONED }
  enum AddressRole {
    OWNER STATE_CONTROLLER GOVERNOR STORAGE_DEPOSIT_RETURN EXPIRATION_RETURN
    SENDER ISSUER VALIDATOR MULTI_MEMBER RESTRICTED_INNER
  }
  type LedgerUpdate {
    cursor: String!
    seq: UInt64!
    ordinal: UInt64!
    address: String!
    class: UpdateClass!
    roles: [AddressRole!]!
    outputId: Hex!
    isSpent: Boolean!
    milestoneIndex: UInt32!
    milestoneTimestamp: UInt32!
    balance: UInt64
    historyHash: Hex!
  }
  type PageInfo {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
    startCursor: String
    endCursor: String
  }
  type LedgerUpdateConnection {
    totalCount: UInt64!
    pageInfo: PageInfo!
    nodes: [LedgerUpdate!]!
  }
  type Query {
    ledgerUpdates(address: String!, first: Int!, after: String): LedgerUpdateConnection!
  }
`

const app = Fastify()
app.register(mercurius, {
  schema,
  resolvers: { Query: { ledgerUpdates: (_root: unknown, question: Question) => pageOf(question) } },
  jit: 1,
})
await app.ready()
serve(app.server)
