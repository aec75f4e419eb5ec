import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.ts'
// Each of these declares its part with the builder.
import './scalars.ts'
import './model.ts'
import './account.ts'
import './address.ts'
import './block.ts'
import './chain.ts'
import './chain-edges.ts'
import './chain-kinds.ts'
import './chain-lists.ts'
import './chain-records.ts'
import './feed-others.ts'
import './feed-subscription.ts'
import './error-code.ts'
import './health.ts'
import './inspect-block.ts'
import './ledger-updates.ts'
import './submit-block.ts'
import './milestone.ts'
import './network.ts'
import './output.ts'
import './search.ts'
import './transaction.ts'
import './unspent-outputs.ts'
import './validators.ts'
import './verify-transaction.ts'
import { meterFields } from './meter.ts'

/** The whole GraphQL schema. */
export const schema: GraphQLSchema = builder.toSchema()

meterFields(schema)
