import { connectionAttacks } from './connection-attacks.ts'
import { graphqlAttacks } from './graphql-attacks.ts'
import { restAttacks } from './rest-attacks.ts'
import type { Attack } from './target.ts'

/** All attacks of `npm run attack` and of `test/e2e/attack.test.ts`. */
export const attacks: readonly Attack[] = [...graphqlAttacks, ...restAttacks, ...connectionAttacks]
