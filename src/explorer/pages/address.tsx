import type { ComponentChildren } from 'preact'
import { type AddressPageData, document } from '../../generated/explorer/address.ts'
import { addressOf } from '../base.ts'
import { BalanceChart } from '../charts/balance-chart.tsx'
import { grouped, shortened } from '../format.ts'
import { type ObjectViewProps, objectPage } from '../page.tsx'
import { BalanceBar } from '../parts/balance-bar.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import {
  amountColumn,
  idTable,
  itsTransactionColumn,
  timeColumn,
} from '../parts/tables/columns.tsx'
import { nextOf, type Paged, Paging } from '../parts/tables/paging.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Amount, Tokens } from '../parts/values/amount.tsx'
import { ChainId } from '../parts/values/chain-id.tsx'
import { Change } from '../parts/values/change.tsx'
import { Id, PlainId } from '../parts/values/id.tsx'
import { CountFact } from '../parts/values/value-facts.tsx'
import { cursorsIn, type Place } from '../router.ts'
import { texts } from '../texts.ts'
import { detailTexts } from '../texts-details.ts'
import '../styles/details.css'

/** The page of an address: its balance, its possessions and its history. */

type Address = NonNullable<AddressPageData['address']>
type Update = NonNullable<Address['updates']>['nodes'][number]
type Unspent = Address['unspentOutputs']['nodes'][number]

const words = texts.address

export const page = objectPage(document, 'address', AddressPage, {
  variables: (place) => ({ address: place.parameters.address ?? '', ...cursorsIn(place) }),
  title: ({ parameters }) => words.title(shortened(parameters.address ?? '')),
  target: ({ parameters }) => ({ kind: words.kind, id: parameters.address ?? '' }),
})

function AddressPage({ of: address, place }: ObjectViewProps<AddressPageData, 'address'>) {
  return (
    <>
      <h1>{words.heading}</h1>
      <PlainId id={address.bech32} isSigned />
      <BalanceBar of={address.balance} />
      <QrCode text={address.bech32} />
      <AddressFacts of={address} place={place} />
      <Updates of={address} place={place} />
      <TableSection of={unspentTable} rows={address.unspentOutputs.nodes} isLive>
        <Paging place={place} next={nextOf(address.unspentOutputs)} by="outputsAfter" />
      </TableSection>
    </>
  )
}

interface AddressPartProps {
  readonly of: Address
  readonly place: Place
}

function AddressFacts({ of: address, place }: AddressPartProps) {
  const { nativeTokens, nfts, foundries, delegations } = address
  return (
    <Facts>
      <Fact name={words.kindOf}>{texts.addressKind[address.kind] ?? address.kind}</Fact>
      <CountFact name={words.outputs} value={address.balance.outputCount} />
      <PagedFact name={words.tokens} of={nativeTokens} place={place} by="tokensAfter">
        <TokenList of={nativeTokens.nodes} />
      </PagedFact>
      <PagedFact name={words.nfts} of={nfts} place={place} by="nftsAfter">
        <ul>
          {nfts.nodes.map(({ nftId }) => (
            <li key={nftId}>
              <Id of="nft" id={nftId} />
            </li>
          ))}
        </ul>
      </PagedFact>
      <Fact name={detailTexts.address.chain}>
        {address.chain !== null && <ChainId of={address.chain} />}
      </Fact>
      <PagedFact
        name={detailTexts.address.foundries}
        of={foundries}
        place={place}
        by="foundriesAfter"
      >
        <TokenList
          of={foundries.nodes.map(({ tokenId, circulatingSupply }) => ({
            tokenId,
            total: circulatingSupply,
          }))}
        />
      </PagedFact>
      <PagedFact
        name={detailTexts.address.delegations}
        of={delegations}
        place={place}
        by="delegationsAfter"
      >
        <Delegations of={delegations.nodes} />
      </PagedFact>
    </Facts>
  )
}

interface PagedFactProps {
  readonly name: string
  readonly of: Paged & { readonly nodes: readonly object[] }
  readonly place: Place
  /** Name of the cursor in the URL. */
  readonly by: string
  readonly children: ComponentChildren
}

/** A fact that is a list, with links to its other pages; not rendered if the list is empty. */
function PagedFact({ name, of: list, place, by, children }: PagedFactProps) {
  if (list.nodes.length === 0 && !place.query.has(by)) return null
  return (
    <Fact name={name}>
      {children}
      <Paging place={place} next={nextOf(list)} by={by} />
    </Fact>
  )
}

function Updates({ of: { bech32, updates, balanceHistory }, place }: AddressPartProps) {
  return (
    <TableSection
      of={lacksOldest(updates) ? prunedTable : updateTable}
      rows={updates?.nodes}
      isLive
      aside={
        <span class="links">
          {updates !== null && (
            <span class="muted">{words.inAll(grouped(updates.totalCount))}</span>
          )}
          <a href={historyFile(bech32)} download>
            {words.asCsv}
          </a>
        </span>
      }
      above={balanceHistory !== null && <BalanceChart of={balanceHistory} />}
    >
      {lacksOldest(updates) && updates?.nodes.length !== 0 && (
        <p class="muted">{words.olderNotKept}</p>
      )}
      <Paging place={place} next={nextOf(updates)} />
    </TableSection>
  )
}

/** Whether the list ends before the first update of the address, because the log is pruned. */
function lacksOldest(updates: Address['updates']): boolean {
  if (updates === null || updates.totalCount === '0' || updates.pageInfo.hasNextPage) return false
  return updates.nodes.at(-1)?.ordinal !== '1'
}

function TokenList({ of }: { readonly of: Address['nativeTokens']['nodes'] }) {
  return (
    <ul>
      {of.map(({ tokenId, total }) => (
        <li key={tokenId}>
          <Tokens value={total} /> <Id of="token" id={tokenId} />
        </li>
      ))}
    </ul>
  )
}

function Delegations({ of }: { readonly of: Address['delegations']['nodes'] }) {
  return (
    <ul>
      {of.map(({ delegationId, delegatedAmount, validatorId }) => (
        <li key={delegationId}>
          <Amount value={delegatedAmount} /> <Id of="delegation" id={delegationId} />{' '}
          <span class="muted">→</span> <Id of="account" id={validatorId} />
        </li>
      ))}
    </ul>
  )
}

/** URL of the whole history as a file, which the gateway generates. */
function historyFile(address: string): string {
  return addressOf(`/api/gateway/v1/addresses/${address}/history?format=csv`)
}

const updateTable: TableDefinition<Update> = {
  caption: words.updates,
  keyOf: ({ cursor }) => cursor,
  empty: words.noUpdates,
  columns: [
    timeColumn(words.when, ({ milestoneEndedAt }) => milestoneEndedAt),
    { head: words.change, cell: ({ isSpent }) => <Change isSpent={isSpent} /> },
    itsTransactionColumn,
    amountColumn(words.amount, ({ output }) => output?.amount),
    amountColumn(words.balance, ({ balance }) => balance),
  ],
}

const prunedTable: TableDefinition<Update> = { ...updateTable, empty: words.updatesNotKept }

const unspentTable = idTable<Unspent>(words.output, 'output', ({ outputId }) => outputId, {
  caption: words.unspent,
  empty: words.noUnspent,
  columns: [
    { head: words.kindOf, cell: ({ kind }) => texts.kind[kind] ?? kind },
    timeColumn(words.since, ({ bookedAt }) => bookedAt),
    amountColumn(words.amount, ({ amount }) => amount),
  ],
})
