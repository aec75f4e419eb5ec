import { type AddressPageData, document } from '../../generated/explorer/address.ts'
import { addressOf } from '../base.ts'
import { type Step, StepLine } from '../charts/step-line.tsx'
import { grouped, shortened } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { BalanceBar } from '../parts/balance-bar.tsx'
import { Change } from '../parts/change.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id, PlainId } from '../parts/id.tsx'
import { afterIn, nextOf, Paging } from '../parts/paging.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { texts } from '../texts.ts'

/** What an address has, and how it came to that. */

type Address = NonNullable<AddressPageData['address']>
type Update = NonNullable<Address['updates']>['nodes'][number]
type Unspent = Address['unspentOutputs']['nodes'][number]

const words = texts.address

export const page = definePage({
  document,
  variables: (place) => ({ address: place.parameters.address ?? '', ...afterIn(place) }),
  title: ({ parameters }) => words.title(shortened(parameters.address ?? '')),
  isMissing: ({ address }) => address === null,
  sought: ({ parameters }) => ({ kind: words.kind, id: parameters.address ?? '' }),
  View: AddressPage,
})

function AddressPage({ data: { address }, place }: PageViewProps<AddressPageData>) {
  if (address === null) return null
  const { balance, updates } = address
  return (
    <>
      <h1>{words.heading}</h1>
      <PlainId id={address.bech32} isSigned />
      <BalanceBar of={balance} />
      <Facts>
        <Fact name={words.kindOf}>{texts.addressKind[address.kind] ?? address.kind}</Fact>
        <Fact name={words.outputs}>
          <Count value={balance.outputCount} />
        </Fact>
        <Fact name={words.tokens}>
          {address.nativeTokens.nodes.length > 0 && <Tokens of={address.nativeTokens.nodes} />}
        </Fact>
        <Fact name={words.nfts}>
          {address.nfts.nodes.length > 0 && <Count value={address.nfts.nodes.length} />}
        </Fact>
      </Facts>
      <Section
        title={words.updates}
        aside={
          <span class="links">
            {updates !== null && (
              <span class="muted">{words.inAll(grouped(updates.totalCount))}</span>
            )}
            <a href={historyFile(address.bech32)} download>
              {words.asCsv}
            </a>
          </span>
        }
      >
        <StepLine steps={stepsOf(updates?.nodes ?? [])} />
        <Table
          caption={words.updates}
          rows={updates?.nodes ?? []}
          keyOf={({ cursor }) => cursor}
          columns={updateColumns}
          empty={words.noUpdates}
          isLive
        />
        <Paging place={place} next={updates && nextOf(updates.pageInfo)} />
      </Section>
      <Section title={words.unspent}>
        <Table
          caption={words.unspent}
          rows={address.unspentOutputs.nodes}
          keyOf={({ outputId }) => outputId}
          columns={unspentColumns}
          empty={words.noUnspent}
          isLive
        />
      </Section>
    </>
  )
}

function Tokens({ of }: { readonly of: Address['nativeTokens']['nodes'] }) {
  return (
    <ul>
      {of.map(({ tokenId, total }) => (
        <li key={tokenId}>
          <span class="count">{grouped(total)}</span> <span class="id">{shortened(tokenId)}</span>
        </li>
      ))}
    </ul>
  )
}

/** The balance after each update that is listed, the oldest first. */
function stepsOf(updates: readonly Update[]): readonly Step[] {
  return updates
    .toReversed()
    .flatMap(({ milestoneEndedAt, balance }) =>
      balance === null ? [] : [{ timeMs: Date.parse(milestoneEndedAt), value: Number(balance) }],
    )
}

/** The whole history, as the gateway makes it of everything that is kept. */
function historyFile(address: string): string {
  return addressOf(`/api/gateway/v1/addresses/${address}/history?format=csv`)
}

const updateColumns: readonly Column<Update>[] = [
  { head: words.when, cell: ({ milestoneEndedAt }) => <Time at={milestoneEndedAt} /> },
  { head: words.change, cell: ({ isSpent }) => <Change isSpent={isSpent} /> },
  {
    head: words.transaction,
    cell: ({ transaction }) =>
      transaction === null ? '–' : <Id of="transaction" id={transaction.transactionId} />,
  },
  {
    head: words.amount,
    cell: ({ output }) => (output === null ? '–' : <Amount value={output.amount} isBare />),
    isNumber: true,
  },
  {
    head: words.balance,
    cell: ({ balance }) => (balance === null ? '–' : <Amount value={balance} isBare />),
    isNumber: true,
  },
]

const unspentColumns: readonly Column<Unspent>[] = [
  { head: words.output, cell: ({ outputId }) => <Id of="output" id={outputId} /> },
  { head: words.kindOf, cell: ({ kind }) => texts.kind[kind] ?? kind },
  { head: words.since, cell: ({ bookedAt }) => <Time at={bookedAt} /> },
  { head: words.amount, cell: ({ amount }) => <Amount value={amount} isBare />, isNumber: true },
]
