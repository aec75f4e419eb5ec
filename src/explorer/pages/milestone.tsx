import { document, type MilestonePageData } from '../../generated/explorer/milestone.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { Change } from '../parts/change.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id, PlainId } from '../parts/id.tsx'
import { Parties } from '../parts/parties.tsx'
import { State } from '../parts/state.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time, WholeTime } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** The page of a milestone: its blocks, transactions and ledger updates. */

type Milestone = NonNullable<MilestonePageData['milestone']>
type Transaction = NonNullable<Milestone['transactions']>['nodes'][number]
type Block = NonNullable<Milestone['blocks']>['nodes'][number]
type Update = NonNullable<Milestone['updates']>['nodes'][number]

const words = texts.milestone

export const page = definePage({
  document,
  variables: ({ parameters }) => ({ index: Number(parameters.index) }),
  title: ({ parameters }) => words.title(grouped(parameters.index ?? '')),
  isMissing: ({ milestone }) => milestone === null,
  target: ({ parameters }) => ({ kind: words.kind, id: parameters.index ?? '' }),
  // A milestone never changes, except that the newest one gets a successor.
  live: ({ milestone }) => (milestone?.next === null ? 'MILESTONES' : 'NEVER'),
  View: MilestonePage,
})

function MilestonePage({ data: { milestone } }: PageViewProps<MilestonePageData>) {
  if (milestone === null) return null
  return (
    <>
      <Heading of={milestone} />
      <Facts>
        <Fact name={words.ended}>
          <WholeTime at={milestone.endedAt} />
        </Fact>
        <Fact name={words.commitment}>
          <PlainId id={milestone.commitmentId} />
        </Fact>
        <Fact name={words.blocks}>
          <Count value={milestone.blockCount} />
        </Fact>
        <Fact name={words.transactions}>
          <Count value={milestone.transactionCount} />
        </Fact>
        <Fact name={words.updates}>
          <Count value={milestone.updateCount} />
        </Fact>
        <Fact name={words.referenceManaCost}>
          {grouped(milestone.commitment.referenceManaCost)} {words.manaPerWork}
        </Fact>
      </Facts>
      <Section title={words.transactions}>
        <Table
          caption={words.transactions}
          rows={milestone.transactions?.nodes ?? []}
          keyOf={({ transactionId }) => transactionId}
          columns={transactionColumns}
          empty={words.noTransactions}
        />
      </Section>
      <Section title={words.updates}>
        <Table
          caption={words.updates}
          rows={milestone.updates?.nodes ?? []}
          keyOf={({ cursor }) => cursor}
          columns={updateColumns}
          empty={words.noUpdates}
        />
      </Section>
      <Section title={words.blocks}>
        <Table
          caption={words.blocks}
          rows={milestone.blocks?.nodes ?? []}
          keyOf={({ blockId }) => blockId}
          columns={blockColumns}
          empty={words.noBlocks}
        />
      </Section>
    </>
  )
}

function Heading({ of: { index, previous, next } }: { readonly of: Milestone }) {
  return (
    <div class="heading">
      <h1>{words.title(grouped(index))}</h1>
      <nav class="steps" aria-label={words.steps}>
        <Step to={previous?.index} label={words.previous} />
        <Step to={next?.index} label={words.next} />
      </nav>
    </div>
  )
}

function Step({ to, label }: { readonly to: number | undefined; readonly label: string }) {
  if (to === undefined) return <span class="muted">{label}</span>
  return <a href={linkTo('milestone', { index: String(to) })}>{label}</a>
}

const transactionColumns: readonly Column<Transaction>[] = [
  {
    head: words.transaction,
    cell: ({ transactionId }) => <Id of="transaction" id={transactionId} />,
  },
  { head: words.state, cell: ({ state }) => <State of={state} /> },
  { head: words.parties, cell: ({ changes }) => <Parties of={changes ?? []} /> },
]

const updateColumns: readonly Column<Update>[] = [
  { head: words.change, cell: ({ isSpent }) => <Change isSpent={isSpent} /> },
  { head: words.output, cell: ({ outputId }) => <Id of="output" id={outputId} /> },
  { head: words.address, cell: ({ address }) => <Id of="address" id={address} /> },
  {
    head: words.amount,
    cell: ({ output }) => (output === null ? '–' : <Amount value={output.amount} isBare />),
    isNumber: true,
  },
]

const blockColumns: readonly Column<Block>[] = [
  { head: words.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
  { head: words.state, cell: ({ state }) => <State of={state} /> },
  { head: words.issued, cell: ({ issuedAt }) => <Time at={issuedAt} /> },
  {
    head: words.transaction,
    cell: ({ transaction }) =>
      transaction === null ? '–' : <Id of="transaction" id={transaction.transactionId} />,
  },
]
