import { initGraphQLTada } from 'gql.tada'
import type { Scalars } from '../../src/client/scalars.ts'
import type { introspection } from './generated/schema.d.ts'

/** A client whose documents have types. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: Scalars
}>()
