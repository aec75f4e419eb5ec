import { graphqlAttacks } from './graphql-attacks.ts'
import type { Attack } from './target.ts'

/** Every attack that was made on a gateway, and their relatives. */
export const attacks: readonly Attack[] = [...graphqlAttacks]
