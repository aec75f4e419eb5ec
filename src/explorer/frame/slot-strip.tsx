import { grouped } from '../format.ts'
import { milestones } from '../milestones.ts'
import type { Tip } from '../network.ts'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** One bar for each of the latest milestones, newest last. The height is the number of transactions; failed ones are hatched on top. */
export function SlotStrip() {
  const shown = milestones.value
  const maxCount = Math.max(4, ...shown.map((one) => acceptedOf(one) + failedOf(one)))
  return (
    <nav class="strip" aria-label={texts.strip.label(shown.length)}>
      {shown.map((milestone) => {
        const { index } = milestone
        const failed = failedOf(milestone)
        const count = acceptedOf(milestone) + failed
        // The scale is logarithmic, so that one transaction is visible next to hundreds.
        const height = count === 0 ? 0 : 0.2 + (0.8 * Math.log1p(count)) / Math.log1p(maxCount)
        const label = texts.strip.bar(grouped(index), acceptedOf(milestone), failed)
        return (
          // The bars are not tab stops: keyboard users find the milestones as a list on the home page.
          <a
            key={index}
            href={linkTo('milestone', { index: String(index) })}
            title={label}
            aria-label={label}
            tabIndex={-1}
          >
            <span style={{ height: `${Math.round(100 * height)}%` }}>
              {failed > 0 && <span style={{ height: `${Math.round((100 * failed) / count)}%` }} />}
            </span>
          </a>
        )
      })}
    </nav>
  )
}

function acceptedOf({ transactionCount }: Tip): number {
  return transactionCount ?? 0
}

function failedOf({ failedTransactionCount }: Tip): number {
  return failedTransactionCount ?? 0
}
