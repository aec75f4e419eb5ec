import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { document, type HomeData } from '../../generated/explorer/home.ts'
import { ActivityChart, isResolution } from '../charts/activity.tsx'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { movedBy, Parties } from '../parts/parties.tsx'
import { State } from '../parts/state.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** The home page: the current activity on the ledger. */

type Milestone = NonNullable<HomeData['milestones']>['nodes'][number]
type Transaction = NonNullable<HomeData['transactions']>['nodes'][number]

export const page = definePage({
  document,
  variables: ({ query }) => {
    const by = query.get('by')
    return isResolution(by) ? { resolution: by } : {}
  },
  title: () => texts.home.title,
  live: () => 'MILESTONES',
  View: Home,
})

function Home({ data, place }: PageViewProps<HomeData>) {
  const by = place.query.get('by')
  return (
    <>
      <h1 class="unseen">{texts.home.title}</h1>
      <Figures status={data.status} />
      <ActivityChart points={data.activity ?? []} resolution={isResolution(by) ? by : 'MINUTE'} />
      <Paused by={data.status.committed.slot} data={data}>
        {(shown) => (
          <div class="columns">
            <Section title={texts.home.milestones}>
              <Table
                caption={texts.home.milestones}
                rows={shown.milestones?.nodes ?? []}
                keyOf={({ id }) => id}
                columns={milestoneColumns}
                empty={texts.home.noActivity}
                isLive
              />
            </Section>
            <Section title={texts.home.transactions}>
              <Table
                caption={texts.home.transactions}
                rows={shown.transactions?.nodes ?? []}
                keyOf={({ id }) => id}
                columns={transactionColumns}
                empty={texts.home.noTransactions}
                isLive
              />
            </Section>
          </div>
        )}
      </Paused>
    </>
  )
}

function Figures({ status }: { readonly status: HomeData['status'] }) {
  return (
    <div class="figures">
      <Figure
        value={status.transactionsPerSecond.toFixed(status.transactionsPerSecond < 10 ? 1 : 0)}
        name={texts.home.rate}
        note={texts.home.rateNote}
      />
      <Figure
        value={grouped(status.lagSeconds)}
        name={texts.home.final}
        note={texts.home.finalNote}
      />
      <Figure
        value={grouped(status.addresses)}
        name={<a href={linkTo('rich')}>{texts.home.addresses}</a>}
        note={texts.home.addressesNote}
      />
    </div>
  )
}

interface FigureProps {
  readonly value: string
  readonly name: ComponentChildren
  readonly note: string
}

function Figure({ value, name, note }: FigureProps) {
  return (
    <p class="figure">
      <strong>{value}</strong> <span>{name}</span> <span class="muted">{note}</span>
    </p>
  )
}

/** Pauses updates while the pointer is over the lists, and shows the number of milestones that wait. */
function Paused({
  by: slot,
  data,
  children,
}: {
  readonly by: number
  readonly data: HomeData
  readonly children: (data: HomeData) => ComponentChildren
}) {
  const isHeld = useSignal(false)
  const held = useRef({ slot, data })
  if (!isHeld.value) held.current = { slot, data }
  const waiting = slot - held.current.slot
  return (
    // Only a mouse pauses the lists, because the row under it would move. Keyboard and screen reader users keep their row.
    <div
      class="held"
      onPointerEnter={({ pointerType }) => {
        isHeld.value = pointerType === 'mouse'
      }}
      onPointerLeave={() => {
        isHeld.value = false
      }}
    >
      {waiting > 0 && <p class="waiting">{texts.home.waiting(waiting)}</p>}
      {children(held.current.data)}
    </div>
  )
}

const milestoneColumns: readonly Column<Milestone>[] = [
  {
    head: texts.home.milestone,
    cell: ({ index }) => (
      <a href={linkTo('milestone', { index: String(index) })}>{grouped(index)}</a>
    ),
  },
  { head: texts.home.ended, cell: ({ endedAt }) => <Time at={endedAt} /> },
  {
    head: texts.home.transactions,
    cell: ({ transactionCount }) => <Count value={transactionCount} />,
    isNumber: true,
  },
  {
    head: texts.home.updates,
    cell: ({ updateCount }) => <Count value={updateCount} />,
    isNumber: true,
  },
]

const transactionColumns: readonly Column<Transaction>[] = [
  {
    head: texts.home.transaction,
    cell: ({ transactionId }) => <Id of="transaction" id={transactionId} />,
  },
  { head: texts.home.state, cell: ({ state }) => <State of={state} /> },
  { head: texts.home.parties, cell: ({ changes }) => <Parties of={changes ?? []} /> },
  {
    head: texts.home.amount,
    cell: ({ changes }) =>
      changes === null || changes.length === 0 ? '–' : <Amount value={movedBy(changes)} isBare />,
    isNumber: true,
  },
]
