import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.ts'
// Each of these declares its part with the builder.
import './scalars.ts'
import './model.ts'
import './account.ts'
import './address.ts'
import './address-lists.ts'
import './block.ts'
import './block-lists.ts'
import './chain-records.ts'
import './feed-others.ts'
import './feed-subscription.ts'
import './health.ts'
import './inspect-block.ts'
import './ledger-updates.ts'
import './submit-block.ts'
import './milestone.ts'
import './milestone-lists.ts'
import './network.ts'
import './output.ts'
import './output-edges.ts'
import './output-lists.ts'
import './transaction.ts'
import './transaction-changes.ts'
import './transaction-lists.ts'
import './unspent-outputs.ts'
import './verify-transaction.ts'
import { meterFields } from './meter.ts'

/** The whole GraphQL schema. */
export const schema: GraphQLSchema = builder.toSchema()

meterFields(schema)
