import { useEffect, useRef } from 'preact/hooks'
import type { HomeData } from '../../generated/explorer/home.ts'
import { loaded } from '../build.ts'
import { isDark, isSystemDark, theme } from '../frame/theme.ts'
import { Section } from '../parts/facts.tsx'
import { amountColumn, countColumn } from '../parts/tables/columns.tsx'
import { type Column, Table } from '../parts/tables/table.tsx'
import { utc } from '../parts/values/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'
import type { BarChart } from './bars.ts'

/** The number of transactions in each minute, hour or day. */

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

/** The bar chart. Its code is loaded separately, and its space is reserved meanwhile. */
function Chart({ points, resolution }: ActivityProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<BarChart | undefined>(undefined)
  const colours = `${theme.value} ${isSystemDark.value}`
  useEffect(() => {
    const gone = new AbortController()
    void loaded(import('./bars.ts')).then((bars) => {
      if (bars === undefined || gone.signal.aborted || place.current === null) return
      place.current.dataset.drawn = isDark() ? 'dark' : 'light'
      chart.current = bars.createBarChart(place.current, seriesNames)
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
  return (
    <Table
      caption={texts.home.activity}
      rows={busy.toReversed()}
      keyOf={({ start }) => start}
      columns={columns}
      empty={texts.home.noActivity}
    />
  )
}

const columns: readonly Column<ActivityPoint>[] = [
  {
    head: texts.home.start,
    cell: ({ start }) => <time dateTime={start}>{utc(Date.parse(start)).slice(0, 16)}</time>,
  },
  countColumn(texts.home.accepted, ({ transactionsAccepted }) => transactionsAccepted),
  countColumn(texts.home.failed, ({ transactionsFailed }) => transactionsFailed),
  amountColumn(texts.home.moved, ({ baseTokensMoved }) => baseTokensMoved),
]
