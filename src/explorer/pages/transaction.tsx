import { document, type TransactionPageData } from '../../generated/explorer/transaction.ts'
import { capitalized, grouped } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ByteTree } from '../parts/bytes/byte-tree.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { ObjectHeading } from '../parts/object-heading.tsx'
import { expires } from '../parts/outputs/expires.ts'
import { blockTable, stateColumn } from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { FailureNote } from '../parts/tools/failure-note.tsx'
import { type BrokenPart, Flow } from '../parts/transactions/flow.tsx'
import { FlowCsv } from '../parts/transactions/flow-csv.tsx'
import { FlowLanes } from '../parts/transactions/flow-lanes.tsx'
import { outputIdOf } from '../parts/transactions/input-id.ts'
import { gain, movedBy } from '../parts/transactions/parties.tsx'
import { Rules } from '../parts/transactions/rules.tsx'
import { TryAgain } from '../parts/transactions/try-again.tsx'
import { UnlockReasons } from '../parts/transactions/unlock-reasons.tsx'
import { Amount } from '../parts/values/amount.tsx'
import { Id } from '../parts/values/id.tsx'
import { MilestoneLink } from '../parts/values/milestone-link.tsx'
import { State } from '../parts/values/state.tsx'
import { FullTime, Time } from '../parts/values/time.tsx'
import { texts } from '../texts.ts'
import { detailTexts } from '../texts-details.ts'
import '../styles/details.css'

/** The page of a transaction: what it moved, as a sentence and as a flow, and why it failed, if it did. */

type Transaction = NonNullable<TransactionPageData['transaction']>
type Carrier = NonNullable<Transaction['carriers']>['nodes'][number]

const words = texts.transaction

export const page = objectPage(document, 'transaction', TransactionPage, {
  ...byId(words),
  // Until it is final, every milestone may change its state. Then its outputs may be spent, or get another owner by expiration.
  live: ({ transaction }) => {
    if (transaction?.state !== 'FINALIZED') return 'MILESTONES'
    const unspent = transaction.outputs.filter(({ isSpent }) => !isSpent)
    if (unspent.length === 0) return 'NEVER'
    return unspent.some(expires) ? 'MILESTONES' : 'UPDATES'
  },
})

function TransactionPage({
  of: transaction,
  place,
}: ObjectViewProps<TransactionPageData, 'transaction'>) {
  const { failure, bytes, fields, examination } = transaction
  return (
    <>
      <ObjectHeading title={words.heading} id={transaction.transactionId} isSigned>
        <State of={transaction.state} />
      </ObjectHeading>
      <p class="sentence">
        <Sentence of={transaction} />
      </p>
      {failure !== null && <Failure of={failure} />}
      {failure !== null && bytes !== null && <TryAgain bytes={bytes} />}
      <Flow of={transaction} broken={brokenPart(transaction)} />
      <FlowCsv inputs={transaction.inputs} outputs={transaction.outputs} />
      <FlowLanes of={transaction} />
      <TransactionFacts of={transaction} />
      {failure !== null && examination !== null && (
        <Section title={detailTexts.rules.title}>
          <Rules of={examination} />
        </Section>
      )}
      {transaction.inputs.length > 0 && <Unlocks of={transaction} />}
      <TableSection
        of={carrierTable}
        rows={transaction.carriers?.nodes}
        missing={texts.states.notOffered}
      >
        <Paging place={place} next={nextOf(transaction.carriers)} by="blocksAfter" />
      </TableSection>
      {fields !== null && bytes !== null && <ByteTree fields={fields} bytes={bytes} />}
    </>
  )
}

function TransactionFacts({ of: { milestone, content } }: { readonly of: Transaction }) {
  return (
    <Facts>
      <Fact name={words.milestone}>
        {milestone !== null && (
          <>
            <MilestoneLink index={milestone.index} />{' '}
            <span class="muted">
              <FullTime at={milestone.endedAt} />
            </span>
          </>
        )}
      </Fact>
      <Fact name={words.created}>
        {content !== null && `${words.slot} ${grouped(content.transaction.creationSlot)}`}
      </Fact>
    </Facts>
  )
}

function Unlocks({ of: transaction }: { readonly of: Transaction }) {
  const { title, titleOfFailed } = detailTexts.unlocks
  return (
    <Section title={transaction.failure === null ? title : titleOfFailed}>
      <UnlockReasons of={transaction} />
    </Section>
  )
}

/** The blocks that carry the transaction. */
const carrierTable = blockTable<Carrier>({
  caption: words.blocks,
  empty: words.noBlocks,
  columns: [stateColumn],
})

/** The input or output that breaks the rule, from the detail of the failure. */
function brokenPart({ examination, content }: Transaction): BrokenPart | undefined {
  const detail = examination?.failure?.detail
  if (typeof detail !== 'object' || detail === null) return undefined
  const input = 'input' in detail ? content?.transaction.inputs[Number(detail.input)] : undefined
  return {
    input: input && outputIdOf(input),
    output: 'output' in detail ? Number(detail.output) : undefined,
  }
}

/** Summary of the transaction for readers who do not know what an output is. */
function Sentence({
  of: { changes, content, state, milestone, failure, block },
}: {
  readonly of: Transaction
}) {
  if (failure !== null) return <>{words.didNothing}</>
  if (state === 'PENDING') return <>{words.waits}</>
  if (content === null) return <>{words.genesis}</>
  // A gateway that started from a snapshot does not have the inputs of older transactions.
  if (changes === null) return <>{words.unknown}</>
  const from = changes.filter((change) => gain(change) < 0n)
  const to = changes.filter((change) => gain(change) > 0n)
  const [sender] = from
  const [receiver] = to
  const when = milestone === null ? block?.issuedAt : milestone.endedAt
  return (
    <>
      {sender === undefined || receiver === undefined ? (
        <>
          {words.movedWithin} <Id of="address" id={changes[0]?.address.bech32 ?? ''} />
        </>
      ) : (
        <>
          {words.moved} <Amount value={movedBy(changes)} /> {words.from}{' '}
          <Id of="address" id={sender.address.bech32} />
          <Others count={from.length - 1} /> {words.to}{' '}
          <Id of="address" id={receiver.address.bech32} />
          <Others count={to.length - 1} />
        </>
      )}
      {when !== undefined && (
        <>
          , <Time at={when} />
        </>
      )}
      .
    </>
  )
}

function Others({ count }: { readonly count: number }) {
  return count > 0 ? <> {words.others(count)}</> : null
}

function Failure({
  of: { code, name, sentence },
}: {
  readonly of: NonNullable<Transaction['failure']>
}) {
  return (
    <FailureNote role="note" title={`${capitalized(sentence)}.`}>
      <p class="muted">{words.rule(code, name)}</p>
    </FailureNote>
  )
}
