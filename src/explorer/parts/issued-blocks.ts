/** How many blocks each validator issued in the slots of an epoch. */

/** The slots that are shown, and the blocks of each validator in them. */
export interface Strip {
  readonly from: number
  readonly to: number
  /** The number of blocks by validator and slot. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>
}

/** The newest validation blocks, the newest first. */
export interface IssuedBlocks {
  readonly newest: { readonly index: number } | null
  readonly blocks: {
    readonly nodes: readonly { readonly slot: number; readonly issuerId: string }[]
    readonly pageInfo: { readonly hasNextPage: boolean }
  } | null
}

const mostSlots = 60

/** The newest slots of an epoch for which the page has every block; `undefined` where it has none of them. */
export function stripOf(
  epoch: { readonly firstSlot: number; readonly lastSlot: number },
  { blocks, newest }: IssuedBlocks,
): Strip | undefined {
  if (blocks === null || newest === null) return undefined
  const to = Math.min(epoch.lastSlot, newest.index)
  // Of the oldest slot on a full page there may be more blocks.
  const oldest = blocks.pageInfo.hasNextPage ? (blocks.nodes.at(-1)?.slot ?? to) + 1 : 0
  const from = Math.max(epoch.firstSlot, oldest, to - mostSlots + 1)
  if (from > to) return undefined
  const counts = new Map<string, Map<number, number>>()
  for (const { issuerId, slot } of blocks.nodes) {
    if (slot < from || slot > to) continue
    const bySlot = counts.get(issuerId) ?? new Map<number, number>()
    counts.set(issuerId, bySlot.set(slot, (bySlot.get(slot) ?? 0) + 1))
  }
  return { from, to, counts }
}
