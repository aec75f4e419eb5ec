import { connectionAttacks } from './connection-attacks.ts'
import { graphqlAttacks } from './graphql-attacks.ts'
import { restAttacks } from './rest-attacks.ts'
import type { Attack } from './target.ts'

/** Every attack that was made on a gateway, and their relatives. */
export const attacks: readonly Attack[] = [...graphqlAttacks, ...restAttacks, ...connectionAttacks]
