import { document, type TransactionPageData } from '../../generated/explorer/transaction.ts'
import { grouped, shortened } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Flow } from '../parts/flow.tsx'
import { Id, PlainId } from '../parts/id.tsx'
import { gain, movedBy } from '../parts/parties.tsx'
import { State } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { Time, WholeTime } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** What a transaction moved, in a sentence and as a flow; why it failed, where it did. */

export type Transaction = NonNullable<TransactionPageData['transaction']>

const words = texts.transaction

export const page = definePage({
  document,
  variables: ({ parameters }) => ({ id: parameters.id ?? '' }),
  title: ({ parameters }) => words.title(shortened(parameters.id ?? '')),
  isMissing: ({ transaction }) => transaction === null,
  sought: ({ parameters }) => ({ kind: words.kind, id: parameters.id ?? '' }),
  // What it created may be spent later; before it is final, every milestone may decide.
  live: ({ transaction }) => (transaction?.state === 'FINALIZED' ? 'UPDATES' : 'MILESTONES'),
  View: TransactionPage,
})

function TransactionPage({ data: { transaction } }: PageViewProps<TransactionPageData>) {
  if (transaction === null) return null
  const { content } = transaction
  return (
    <>
      <div class="heading">
        <h1>{words.heading}</h1>
        <State of={transaction.state} />
      </div>
      <PlainId id={transaction.transactionId} isSigned />
      <p class="sentence">
        <Sentence of={transaction} />
      </p>
      {transaction.failure !== null && <Failure of={transaction.failure} />}
      <Flow of={transaction} />
      <Facts>
        <Fact name={words.milestone}>
          {transaction.milestone !== null && (
            <>
              <a href={linkTo('milestone', { index: String(transaction.milestone.index) })}>
                {grouped(transaction.milestone.index)}
              </a>{' '}
              <span class="muted">
                <WholeTime at={transaction.milestone.endedAt} />
              </span>
            </>
          )}
        </Fact>
        <Fact name={words.created}>
          {content !== null && `${words.slot} ${grouped(content.transaction.creationSlot)}`}
        </Fact>
        <Fact name={words.manaIn}>{manaOf(transaction.inputs)}</Fact>
        <Fact name={words.manaOut}>{manaOf(transaction.outputs)}</Fact>
        <Fact name={words.allotted}>
          {content !== null && content.transaction.allotments.length > 0 && (
            <>
              {sumOf(content.transaction.allotments.map(({ mana }) => mana))}{' '}
              <span class="muted">{words.toAccounts(content.transaction.allotments.length)}</span>
            </>
          )}
        </Fact>
        <Fact name={words.unlocks}>
          {content !== null && <Count value={content.unlocks.length} />}
        </Fact>
      </Facts>
      <Section title={words.blocks}>
        <Table
          caption={words.blocks}
          rows={transaction.carriers?.nodes ?? []}
          keyOf={({ blockId }) => blockId}
          columns={[
            { head: words.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
            { head: words.state, cell: ({ state }) => <State of={state} /> },
          ]}
          empty={words.noBlocks}
        />
      </Section>
    </>
  )
}

function manaOf(outputs: Transaction['inputs'] | Transaction['outputs']): string | undefined {
  return outputs.length === 0 ? undefined : sumOf(outputs.map(({ mana }) => mana ?? '0'))
}

function sumOf(amounts: readonly string[]): string {
  return grouped(amounts.reduce((sum, one) => sum + BigInt(one), 0n))
}

/** What happened, for those who do not know what an output is. */
function Sentence({
  of: { changes, state, milestone, failure, block },
}: {
  readonly of: Transaction
}) {
  if (failure !== null) return <>{words.didNothing}</>
  if (state === 'PENDING') return <>{words.waits}</>
  if (changes === null || changes.length === 0) return <>{words.genesis}</>
  const from = changes.filter((change) => gain(change) < 0n)
  const to = changes.filter((change) => gain(change) > 0n)
  const [giver] = from
  const [taker] = to
  const when = milestone === null ? block?.issuedAt : milestone.endedAt
  return (
    <>
      {giver === undefined || taker === undefined ? (
        <>
          {words.movedWithin} <Id of="address" id={changes[0]?.address.bech32 ?? ''} />
        </>
      ) : (
        <>
          {words.moved} <Amount value={movedBy(changes)} /> {words.from}{' '}
          <Id of="address" id={giver.address.bech32} />
          <Others count={from.length - 1} /> {words.to}{' '}
          <Id of="address" id={taker.address.bech32} />
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
    <div class="failure" role="note">
      <strong>
        <span aria-hidden="true">✕</span> {capital(sentence)}.
      </strong>
      <p class="muted">{words.rule(code, name)}</p>
    </div>
  )
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
