import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import RelayPlugin, { resolveNodes } from '@pothos/plugin-relay'
import type { GraphQLResolveInfo } from 'graphql'
import type { Services } from '../../service/services.ts'
import type { SubmissionQuota } from '../../service/submit/submission-quota.ts'
import { maxPageSize } from '../../service/updates/list-ledger-updates.ts'
import type { Share } from '../clients/client-shares.ts'
import { toGraphQL } from '../errors/errors.ts'
import type { TransportLimits } from '../limits.ts'
import type { Observation } from '../observation.ts'
import type { Caller } from '../tokens/auth.ts'
import type { Budget } from './execution/budget.ts'
import { itemsCost, reads } from './execution/prices.ts'
import { decodeNodeId, encodeNodeId, type NodeId } from './node-id.ts'
import type { ScalarTypes } from './scalar-types.ts'

/** The context of every resolver. */
export interface GatewayContext {
  readonly caller: Caller
  readonly services: Services
  readonly limits: TransportLimits
  /** Id of the request in the log, and in the response to an unexpected failure. */
  readonly requestId: string
  /** Whether the gateway is shutting down. */
  readonly isStopping: boolean
  readonly budget: Budget
  /** Share of the client that sent the request. */
  readonly share: Share
  /** Returns the remaining submission quota of the client. */
  quota(): SubmissionQuota
  /** Record of the outcome of the operation; `undefined` when it is not observed. */
  readonly observation?: Observation | undefined
}

/** Without the extension, the plugin reads the info of the field to decode ids, and queries could not be compiled (`compile.ts`). */
const asDecoded = { extensions: { relayGlobalIDAlwaysParse: false } } as const

/**
 * The builder with which all parts of the GraphQL schema are declared. `schema.ts` imports the parts. Fields are non-null unless they
 * declare otherwise, and connections have no nullable edges or nodes.
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
  // No limit here: `cost.ts` refuses an operation as a whole, whereas the plugin would refuse each of its fields.
  complexity: { defaultListMultiplier: 1 },
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    edgesFieldOptions: { nullable: false },
    nodeFieldOptions: { nullable: false },
    brandLoadedObjects: true,
    idFieldOptions: {
      description: 'The opaque global id of the object. It does not change.',
    },
    encodeGlobalID: encodeNodeId,
    decodeGlobalID: decodeNodeId,
    pageInfoTypeOptions: { description: 'The position of a page in its list (Relay connections).' },
    hasNextPageFieldOptions: { description: 'Whether the list has elements after the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether the list has elements before the page.' },
    startCursorFieldOptions: {
      description: 'The cursor of the first element of the page. Null if the page is empty.',
    },
    endCursorFieldOptions: {
      description: 'The cursor of the last element of the page. Null if the page is empty.',
    },
    nodeTypeOptions: {
      description: 'An object of the ledger with a global id, by which it can be queried again.',
    },
    nodeQueryOptions: {
      description: 'The object with the given global id. Null if there is none.',
      args: { id: { ...asDecoded, description: 'The field id of the object.' } },
      complexity: reads(1),
      resolve: (_root, { id }, context, info) => resolveOne(id, 'id', { context, info }),
    },
    nodesQueryOptions: {
      description:
        'The objects with the given global ids, at most 1000, in the order of the ids. Null for each id without an object.',
      args: { ids: { ...asDecoded, description: 'The field id of each object.' } },
      complexity: ({ ids }: { readonly ids: readonly unknown[] }) => itemsCost(ids.length),
      resolve: (_root, { ids }, context, info) => resolveEach(ids, { context, info }),
    },
  },
})

builder.queryType({
  description:
    'The queries of the gateway. A field with arguments is null, with an error, if an argument is not accepted.',
})
builder.mutationType({ description: 'The mutations of the gateway.' })

/**
 * Loads each node separately: a node that cannot be read does not affect the others, whereas the plugin fails the whole list. (The
 * function that the plugin passes to a resolver reads all ids, whatever its argument.)
 */
async function resolveEach(ids: readonly NodeId[], request: NodeRequest): Promise<unknown[]> {
  if (ids.length > maxPageSize) {
    const code = 'PAGE_SIZE_OUT_OF_RANGE'
    throw toGraphQL({ code, argument: 'ids', value: ids.length, limit: maxPageSize })
  }
  const nodes = ids.map((id) => resolveOne(id, 'ids', request))
  // A failure as a list item is the error of that item.
  return await Promise.all(nodes.map((node) => node.catch((failure: unknown) => failure)))
}

interface NodeRequest {
  readonly context: GatewayContext
  readonly info: GraphQLResolveInfo
}

async function resolveOne(
  id: NodeId,
  argument: string,
  { context, info }: NodeRequest,
): Promise<unknown> {
  if (id.typename === '') throw toGraphQL({ code: 'NODE_ID_MALFORMED', argument })
  return (await resolveNodes(builder, context, info, [id]))[0]
}
