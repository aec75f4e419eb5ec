import { useEffect, useRef } from 'preact/hooks'
import type { HomeData } from '../../generated/explorer/home.ts'
import { grouped } from '../format.ts'
import { theme } from '../frame/theme.ts'
import { Section } from '../parts/facts.tsx'
import { utc } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'
import type { BarChart } from './bars.ts'

/** How many transactions there were in each minute, hour or day. */

export type ActivityPoint = NonNullable<HomeData['activity']>[number]

const resolutions = ['MINUTE', 'HOUR', 'DAY'] as const
export type Resolution = (typeof resolutions)[number]

export function isResolution(text: string | null): text is Resolution {
  return resolutions.some((one) => one === text)
}

interface ActivityProps {
  readonly points: readonly ActivityPoint[]
  readonly resolution: Resolution
}

export function ActivityChart({ points, resolution }: ActivityProps) {
  return (
    <Section title={texts.home.activity} aside={<Choice of={resolution} />}>
      <Chart points={points} resolution={resolution} />
      <p class="legend" aria-hidden="true">
        <span class="swatch swatch-accepted" /> {texts.home.accepted}{' '}
        <span class="swatch swatch-failed" /> {texts.home.failed}
      </p>
      <details class="numbers">
        <summary>{texts.home.numbers}</summary>
        <Numbers points={points} />
      </details>
    </Section>
  )
}

function Choice({ of }: { readonly of: Resolution }) {
  return (
    <nav class="choice" aria-label={texts.home.byLabel}>
      {resolutions.map((one) => (
        <a
          key={one}
          href={linkTo('home', {}, one === 'MINUTE' ? {} : { by: one })}
          aria-current={one === of ? 'true' : undefined}
        >
          {texts.home.by[one]}
        </a>
      ))}
    </nav>
  )
}

/** The picture of the numbers. What draws it is loaded beside the page, and its place is kept meanwhile. */
function Chart({ points, resolution }: ActivityProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<BarChart | undefined>(undefined)
  const colours = theme.value
  useEffect(() => {
    const gone = new AbortController()
    void import('./bars.ts').then(({ createBarChart }) => {
      if (gone.signal.aborted || place.current === null) return
      chart.current = createBarChart(place.current, seriesNames)
      chart.current.show(seriesOf(points), resolution)
    })
    return () => {
      gone.abort()
      chart.current?.close()
      chart.current = undefined
    }
  }, [colours])
  useEffect(() => chart.current?.show(seriesOf(points), resolution), [points, resolution])
  return <div class="chart" ref={place} aria-hidden="true" />
}

const seriesNames = { accepted: texts.home.accepted, failed: texts.home.failed }

function seriesOf(points: readonly ActivityPoint[]) {
  return {
    seconds: points.map(({ start }) => Date.parse(start) / 1000),
    accepted: points.map(({ transactionsAccepted }) => Number(transactionsAccepted)),
    failed: points.map(({ transactionsFailed }) => Number(transactionsFailed ?? 0)),
  }
}

function Numbers({ points }: { readonly points: readonly ActivityPoint[] }) {
  const busy = points.filter(
    ({ transactionsAccepted: accepted, transactionsFailed: failed }) =>
      accepted !== '0' || (failed ?? '0') !== '0',
  )
  if (busy.length === 0) return <p class="empty">{texts.home.noActivity}</p>
  return (
    <table>
      <caption class="unseen">{texts.home.activity}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.home.start}</th>
          <th scope="col" class="number">
            {texts.home.accepted}
          </th>
          <th scope="col" class="number">
            {texts.home.failed}
          </th>
        </tr>
      </thead>
      <tbody>
        {busy.toReversed().map(({ start, transactionsAccepted, transactionsFailed }) => (
          <tr key={start}>
            <th scope="row">{utc(Date.parse(start)).slice(0, 16)}</th>
            <td class="number">{grouped(transactionsAccepted)}</td>
            <td class="number">{grouped(transactionsFailed ?? '0')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
