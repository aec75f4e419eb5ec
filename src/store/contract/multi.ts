import type { Hex } from '../../lib/hex.ts'
import type { OutputRow } from '../rows.ts'
import type { Between, PageOrder } from './list.ts'

/** Reads of multi addresses. An address is known as one only while an unspent output names it. */
export interface MultiReader {
  /**
   * References of the multi addresses of a member that outputs name which are unspent as of the newest commitment, in the order of their
   * bytes. Costs an index lookup for each, however many outputs name it.
   */
  multisOfMember(member: Hex, part: Between, page: PageOrder): Promise<Hex[]>
  /** An output for each known multi address that names it, in no particular order. Costs some index lookups for each. */
  outputsNamingMultis(references: readonly Hex[]): Promise<OutputRow[]>
}
