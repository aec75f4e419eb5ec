import { grouped } from '../format.ts'
import { chainTexts } from '../texts-chains.ts'
import type { Strip } from './issued-blocks.ts'

/** A bar chart of the blocks that a validator issued in the slots of an epoch, with one bar per slot. */

interface IssueStripProps {
  readonly of: Strip
  readonly accountId: string
}

export function IssueStrip({ of: { from, to, counts }, accountId }: IssueStripProps) {
  const bySlot = counts.get(accountId) ?? new Map<number, number>()
  const maxCount = Math.max(1, ...[...counts.values()].flatMap((one) => [...one.values()]))
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
          const height = Math.max(1, (16 * (bySlot.get(slot) ?? 0)) / maxCount)
          return <rect key={slot} x={3 * n} y={16 - height} width="2" height={height} />
        })}
      </svg>
      <span class="count">{grouped(sum)}</span>
    </span>
  )
}
