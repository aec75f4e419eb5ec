import { document, type MilestonePageData } from '../../generated/explorer/milestone.ts'
import { grouped } from '../format.ts'
import { milestones } from '../milestones.ts'
import { type ObjectViewProps, objectPage } from '../page.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { StepsHeading } from '../parts/steps-heading.tsx'
import {
  amountColumn,
  blockTable,
  idColumn,
  issuedColumn,
  itsTransactionColumn,
  stateColumn,
  transactionColumn,
} from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { movedBy, partiesColumn } from '../parts/transactions/parties.tsx'
import { Change } from '../parts/values/change.tsx'
import { PlainId } from '../parts/values/id.tsx'
import { FullTime } from '../parts/values/time.tsx'
import { CountFact } from '../parts/values/value-facts.tsx'
import { cursorsIn, linkTo } from '../router.ts'
import { indexIn } from '../scalars.ts'
import { texts } from '../texts.ts'

/** The page of a milestone: its blocks, transactions and ledger updates. */

type Milestone = NonNullable<MilestonePageData['milestone']>
type Transaction = NonNullable<Milestone['transactions']>['nodes'][number]
type Block = NonNullable<Milestone['blocks']>['nodes'][number]
type Update = NonNullable<Milestone['updates']>['nodes'][number]

const words = texts.milestone

export const page = objectPage(document, 'milestone', MilestonePage, {
  variables: (place) => ({ ...cursorsIn(place), index: indexIn(place.parameters.index ?? '') }),
  title: ({ parameters }) => words.title(grouped(parameters.index ?? '')),
  target: ({ parameters }) => ({ kind: words.kind, id: parameters.index ?? '' }),
  notYet: ({ parameters }) => (isAhead(parameters.index) ? <NotYet /> : undefined),
  // A milestone never changes, except that the newest one gets a successor. One that is missing may be committed later.
  live: ({ milestone }) => (milestone?.next == null ? 'MILESTONES' : 'NEVER'),
})

/** Whether the ledger is at most at this milestone. The answer for the newest one may not have arrived yet. */
function isAhead(index: string | undefined): boolean {
  const [newest] = milestones.value
  return newest !== undefined && Number(index) >= newest.index
}

function NotYet() {
  const [newest] = milestones.value
  return (
    <div class="notice">
      <h1>{words.notYet}</h1>
      <p>{words.notYetHint(grouped(newest?.index ?? 0))}</p>
      <a class="button" href={linkTo('milestones')}>
        {texts.nav.milestones}
      </a>
    </div>
  )
}

function MilestonePage({ of: milestone, place }: ObjectViewProps<MilestonePageData, 'milestone'>) {
  const { transactions, updates, blocks } = milestone
  const { notOffered } = texts.states
  return (
    <>
      <StepsHeading
        title={words.title(grouped(milestone.index))}
        label={words.steps}
        before={stepTo(milestone.previous, words.previous)}
        after={stepTo(milestone.next, words.next)}
      />
      <Facts>
        <Fact name={words.ended}>
          <FullTime at={milestone.endedAt} />
        </Fact>
        <Fact name={words.commitment}>
          <PlainId id={milestone.commitmentId} />
        </Fact>
        <CountFact name={words.blocks} value={milestone.blockCount} />
        <CountFact name={words.transactions} value={milestone.transactionCount} />
        <CountFact name={words.updates} value={milestone.updateCount} />
        <Fact name={words.referenceManaCost}>
          {grouped(milestone.commitment.referenceManaCost)} {words.manaPerWork}
        </Fact>
      </Facts>
      <TableSection of={transactionTable} rows={transactions?.nodes} missing={notOffered}>
        <Paging place={place} next={nextOf(transactions)} by="transactionsAfter" />
      </TableSection>
      <TableSection of={updateTable} rows={updates?.nodes} missing={words.updatesNotKept}>
        <Paging place={place} next={nextOf(updates)} by="updatesAfter" />
      </TableSection>
      <TableSection of={blocksTable} rows={blocks?.nodes} missing={notOffered}>
        <Paging place={place} next={nextOf(blocks)} by="blocksAfter" />
      </TableSection>
    </>
  )
}

function stepTo(other: { readonly index: number } | null, label: string) {
  return { label, to: other && linkTo('milestone', { index: String(other.index) }) }
}

const transactionTable: TableDefinition<Transaction> = {
  caption: words.transactions,
  keyOf: ({ transactionId }) => transactionId,
  empty: words.noTransactions,
  columns: [
    transactionColumn,
    stateColumn,
    partiesColumn,
    amountColumn(words.amount, ({ changes }) => changes && movedBy(changes)),
  ],
}

const updateTable: TableDefinition<Update> = {
  caption: words.updates,
  keyOf: ({ cursor }) => cursor,
  empty: words.noUpdates,
  columns: [
    { head: words.change, cell: ({ isSpent }) => <Change isSpent={isSpent} /> },
    idColumn(words.output, 'output', ({ outputId }) => outputId),
    idColumn(words.address, 'address', ({ address }) => address),
    amountColumn(words.amount, ({ output }) => output?.amount),
  ],
}

const blocksTable = blockTable<Block>({
  caption: words.blocks,
  empty: words.noBlocks,
  columns: [stateColumn, issuedColumn, itsTransactionColumn],
})
