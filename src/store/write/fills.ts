import type { Fills } from '../migrate.ts'
import { chainMigration, fillChains } from './fill-chains.ts'
import { fillMultis, multiMigration } from './fill-multis.ts'
import type { FilledDatabase } from './fill-statements.ts'

/** Returns the parts of migrations that SQL alone cannot express. */
export function fillsOf(database: FilledDatabase): Fills {
  return {
    [chainMigration]: (connection) => fillChains(database, connection),
    [multiMigration]: (connection) => fillMultis(database, connection),
  }
}
