import type { ValidatorsPageData } from '../../generated/explorer/validators.ts'
import { grouped } from '../format.ts'
import { chainTexts } from '../texts-chains.ts'

/** In which slots of an epoch a validator has issued blocks: one bar a slot, as many slots as there is room for. */

/** The slots that are shown, and the blocks of each validator in them. */
export interface Strip {
  readonly from: number
  readonly to: number
  /** The number of blocks by validator and slot. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>
}

const mostSlots = 60

/** The newest slots of an epoch for which the page has every block; `undefined` where it has none of them. */
export function stripOf(
  epoch: { readonly firstSlot: number; readonly lastSlot: number },
  { blocks, newest }: ValidatorsPageData,
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

interface IssueStripProps {
  readonly of: Strip
  readonly accountId: string
}

export function IssueStrip({ of: { from, to, counts }, accountId }: IssueStripProps) {
  const bySlot = counts.get(accountId) ?? new Map<number, number>()
  const most = Math.max(1, ...[...counts.values()].flatMap((one) => [...one.values()]))
  const slots = Array.from({ length: to - from + 1 }, (_, n) => from + n)
  const sum = [...bySlot.values()].reduce((all, one) => all + one, 0)
  const label = chainTexts.validators.strip(grouped(sum), grouped(from), grouped(to))
  return (
    <span class="issue-strip">
      <svg
        viewBox={`0 0 ${3 * slots.length} 16`}
        width={3 * slots.length}
        height="16"
        role="img"
        aria-label={label}
      >
        <title>{label}</title>
        {slots.map((slot, n) => {
          const height = Math.max(1, (16 * (bySlot.get(slot) ?? 0)) / most)
          return <rect key={slot} x={3 * n} y={16 - height} width="2" height={height} />
        })}
      </svg>
      <span class="count">{grouped(sum)}</span>
    </span>
  )
}
