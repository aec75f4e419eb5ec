import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import RelayPlugin from '@pothos/plugin-relay'
import type { Services } from '../../service/services.ts'
import type { Caller } from '../auth.ts'
import type { Budget } from './budget.ts'
import type { ScalarTypes } from './scalar-types.ts'

/** What every resolver is given. */
export interface GatewayContext {
  readonly caller: Caller
  readonly services: Services
  /** Names this request in the log and in the answer to an unexpected failure. */
  readonly requestId: string
  /** Whether the gateway is about to stop. */
  readonly isStopping: boolean
  readonly budget: Budget
}

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
    nodeQueryOptions: false,
    nodesQueryOptions: false,
  },
})

builder.queryType({ description: 'What can be read.' })
builder.mutationType({ description: 'What can be changed.' })
