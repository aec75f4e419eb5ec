/** Counts the blocks that each validator issued in the slots of an epoch. */

/** The shown slots, and the number of blocks of each validator in them. */
export interface Strip {
  readonly from: number
  readonly to: number
  /** Number of blocks by validator and slot. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>
}

/** The latest validation blocks, newest first. */
export interface IssuedBlocks {
  readonly newest: { readonly index: number } | null
  readonly blocks: {
    readonly nodes: readonly { readonly slot: number; readonly issuerId: string }[]
    readonly pageInfo: { readonly hasNextPage: boolean }
  } | null
}

const maxSlots = 60

/** The latest slots of an epoch whose blocks are all on the page; `undefined` if there are none. */
export function stripOf(
  epoch: { readonly firstSlot: number; readonly lastSlot: number },
  { blocks, newest }: IssuedBlocks,
): Strip | undefined {
  if (blocks === null || newest === null) return undefined
  const to = Math.min(epoch.lastSlot, newest.index)
  // If there are more pages, the oldest slot on this page may be incomplete.
  const oldest = blocks.pageInfo.hasNextPage ? (blocks.nodes.at(-1)?.slot ?? to) + 1 : 0
  const from = Math.max(epoch.firstSlot, oldest, to - maxSlots + 1)
  if (from > to) return undefined
  const counts = new Map<string, Map<number, number>>()
  for (const { issuerId, slot } of blocks.nodes) {
    if (slot < from || slot > to) continue
    const bySlot = counts.get(issuerId) ?? new Map<number, number>()
    counts.set(issuerId, bySlot.set(slot, (bySlot.get(slot) ?? 0) + 1))
  }
  return { from, to, counts }
}
