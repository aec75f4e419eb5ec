import { type AddressPageData, document } from '../../generated/explorer/address.ts'
import { grouped, shortened } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { BalanceBar } from '../parts/balance-bar.tsx'
import { Change } from '../parts/change.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id, PlainId } from '../parts/id.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** What an address has, and how it came to that. */

type Address = NonNullable<AddressPageData['address']>
type Update = NonNullable<Address['updates']>['nodes'][number]
type Unspent = Address['unspentOutputs']['nodes'][number]

const words = texts.address

export const page = definePage({
  document,
  variables: ({ parameters, query }) => ({
    address: parameters.address ?? '',
    ...(query.has('after') && { after: query.get('after') }),
  }),
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
          updates !== null && <span class="muted">{words.inAll(grouped(updates.totalCount))}</span>
        }
      >
        <Table
          caption={words.updates}
          rows={updates?.nodes ?? []}
          keyOf={({ cursor }) => cursor}
          columns={updateColumns}
          empty={words.noUpdates}
          isLive
        />
        <Pages
          newest={place.query.has('after') ? linkTo('address', place.parameters) : undefined}
          older={
            updates?.pageInfo.hasNextPage
              ? linkTo('address', place.parameters, { after: updates.pageInfo.endCursor ?? '' })
              : undefined
          }
        />
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

interface PagesProps {
  readonly newest: string | undefined
  readonly older: string | undefined
}

/** Leads to the pages of a list beside this one. */
function Pages({ newest, older }: PagesProps) {
  return (
    <p class="steps">
      {newest !== undefined && <a href={newest}>{texts.more.newest}</a>}
      {older !== undefined && <a href={older}>{texts.more.older}</a>}
    </p>
  )
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
