import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { document, type HomeData } from '../../generated/explorer/home.ts'
import { ActivityChart, isResolution } from '../charts/activity.tsx'
import { grouped } from '../format.ts'
import { frame } from '../network.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Figure } from '../parts/figure.tsx'
import {
  amountColumn,
  countColumn,
  stateColumn,
  timeColumn,
  transactionColumn,
} from '../parts/tables/columns.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { movedBy, partiesColumn } from '../parts/transactions/parties.tsx'
import { MilestoneLink } from '../parts/values/milestone-link.tsx'
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
            <TableSection of={milestoneTable} rows={shown.milestones?.nodes} isLive />
            <TableSection
              of={transactionTable}
              rows={shown.transactions?.nodes}
              missing={texts.states.notOffered}
              isLive
            />
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
      {waiting > 0 && <p class="waiting">{texts.status.waiting(waiting)}</p>}
      {children(held.current.data)}
    </div>
  )
}

const milestoneTable: TableDefinition<Milestone> = {
  caption: texts.home.milestones,
  keyOf: ({ id }) => id,
  empty: texts.home.noActivity,
  columns: [
    { head: texts.home.milestone, cell: ({ index }) => <MilestoneLink index={index} /> },
    timeColumn(texts.home.ended, ({ endedAt }) => endedAt),
    countColumn(texts.home.transactions, ({ transactionCount }) => transactionCount),
    countColumn(texts.home.updates, ({ updateCount }) => updateCount),
  ],
}

/** The text of an empty ledger. A development network has a faucet, which sends the first transactions. */
function NoTransactions() {
  const hasFaucet = frame.value?.network.faucet != null
  return (
    <>
      {texts.home.noTransactions}{' '}
      {hasFaucet && <a href={linkTo('faucet')}>{texts.home.toFaucet}</a>}
    </>
  )
}

const transactionTable: TableDefinition<Transaction> = {
  caption: texts.home.transactions,
  keyOf: ({ id }) => id,
  empty: <NoTransactions />,
  columns: [
    transactionColumn,
    stateColumn,
    partiesColumn,
    amountColumn(texts.home.amount, ({ changes }) => (changes?.length ? movedBy(changes) : null)),
  ],
}
