import { type Output, Prisma } from '../../generated/prisma/client.ts'
import type { Tx } from '../client.ts'

/**
 * The outputs that some slots create and spend, for their commit, in SQL that both databases understand: by Prisma's own
 * `findMany` reading them takes a fifth of the commit.
 */

/** The columns of an output that a commit reads. */
export type SlotOutput = Pick<Output, 'id' | 'bytes' | 'bookedSlot' | 'spentSlot' | 'spentBy'>

/** Those of the slots after `after` up to `upTo`, in no order; an output may be in both lists. */
export async function slotOutputs(
  tx: Tx,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<{ readonly created: SlotOutput[]; readonly spent: SlotOutput[] }> {
  const within = (column: Prisma.Sql) => tx.$queryRaw<SlotOutput[]>`
    SELECT id, bytes, "bookedSlot", "spentSlot", "spentBy" FROM outputs
    WHERE ${column} > ${after} AND ${column} <= ${upTo}`
  return {
    created: await within(Prisma.sql`"bookedSlot"`),
    spent: await within(Prisma.sql`"spentSlot"`),
  }
}
