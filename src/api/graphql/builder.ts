import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import RelayPlugin, { resolveNodes } from '@pothos/plugin-relay'
import type { GraphQLResolveInfo } from 'graphql'
import type { Services } from '../../service/services.ts'
import type { SubmissionQuota } from '../../service/submit/submission-quota.ts'
import { maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import type { Caller } from '../auth.ts'
import type { Share } from '../client-shares.ts'
import { toGraphQL } from '../errors.ts'
import type { TransportLimits } from '../limits.ts'
import type { Observation } from '../observation.ts'
import type { Budget } from './budget.ts'
import { decodeNodeId, encodeNodeId, type NodeId } from './node-id.ts'
import { itemsCost, reads } from './prices.ts'
import type { ScalarTypes } from './scalar-types.ts'

/** What every resolver is given. */
export interface GatewayContext {
  readonly caller: Caller
  readonly services: Services
  readonly limits: TransportLimits
  /** Names this request in the log and in the answer to an unexpected failure. */
  readonly requestId: string
  /** Whether the gateway is about to stop. */
  readonly isStopping: boolean
  readonly budget: Budget
  /** Of the client that asks. */
  readonly share: Share
  /** What that client may still add to the database. */
  quota(): SubmissionQuota
  /** Where it is noted what becomes of the operation; `undefined` where it is not observed. */
  readonly observation?: Observation | undefined
}

/** Without it the plugin asks the info of the field for more to decode, and the query could not be compiled (`compile.ts`). */
const asDecoded = {
  extensions: { relayGlobalIDAlwaysParse: false },
  description: 'Global ids, as the field id of a thing gives them.',
} as const

/**
 * The builder that all parts of the GraphQL schema are declared with; `schema.ts` brings the parts together.
 * Nothing is nullable unless it says so, and connections have no nullable edges or nodes.
 */
export const builder = new SchemaBuilder<{
  Context: GatewayContext
  Scalars: ScalarTypes
  DefaultFieldNullability: false
  DefaultEdgesNullability: false
  DefaultNodeNullability: false
}>({
  plugins: [RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  // Without a limit: `cost.ts` refuses an operation as a whole, where the plugin would refuse each of its fields.
  complexity: { defaultListMultiplier: 1 },
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    edgesFieldOptions: { nullable: false },
    nodeFieldOptions: { nullable: false },
    brandLoadedObjects: true,
    idFieldOptions: {
      description: 'Its global id: opaque, the same for as long as the ledger is.',
    },
    encodeGlobalID: encodeNodeId,
    decodeGlobalID: decodeNodeId,
    pageInfoTypeOptions: { description: 'Where a page lies in its list (Relay connections).' },
    hasNextPageFieldOptions: { description: 'Whether the list goes on behind the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the list has something before the page.' },
    startCursorFieldOptions: {
      description: 'The cursor of its first element; null where it has none.',
    },
    endCursorFieldOptions: {
      description: 'The cursor of its last element; null where it has none.',
    },
    nodeTypeOptions: {
      description: 'A thing of the ledger that can be asked for again by its id alone.',
    },
    nodeQueryOptions: {
      description: 'A thing by its global id; null where there is none.',
      args: { id: asDecoded },
      complexity: reads(1),
    },
    nodesQueryOptions: {
      description:
        'Things by their global ids, in the order asked; null for each that is not there. At most 1000 at once.',
      args: { ids: asDecoded },
      complexity: ({ ids }: { readonly ids: readonly unknown[] }) => itemsCost(ids.length),
      resolve: (_root, { ids }, context, info) => resolveEach(ids, context, info),
    },
  },
})

builder.queryType({ description: 'What can be read.' })
builder.mutationType({ description: 'What can be changed.' })

/**
 * Each by itself: a node that cannot be read leaves the others, where the plugin's own way fails the list. (The function
 * that it gives a resolver to use reads all ids, whichever it is called with.)
 */
async function resolveEach(
  ids: readonly NodeId[],
  context: GatewayContext,
  info: GraphQLResolveInfo,
): Promise<unknown[]> {
  if (ids.length > maximumPageSize) {
    const code = 'PAGE_SIZE_OUT_OF_RANGE'
    throw toGraphQL({ code, argument: 'ids', value: ids.length, limit: maximumPageSize })
  }
  const nodes = ids.map(async (id) => (await resolveNodes(builder, context, info, [id]))[0])
  // A failure in the place of an item is the error of that item.
  return await Promise.all(nodes.map((node) => node.catch((failure: unknown) => failure)))
}
