import { document, type TokenPageData } from '../../generated/explorer/token.ts'
import { grouped } from '../format.ts'
import { type ObjectViewProps, objectPage } from '../page.tsx'
import { ChainHeading } from '../parts/chains/chain.tsx'
import { MetadataSection } from '../parts/chains/metadata.tsx'
import { byName, headingOf } from '../parts/chains/named.tsx'
import { SupplyFacts } from '../parts/chains/supply.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { tokensColumn } from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Id } from '../parts/values/id.tsx'
import { percent, Shares } from '../parts/values/shares.tsx'
import { IdFact, TimeFact } from '../parts/values/value-facts.tsx'
import type { Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The page of a native token: its supply and its holders. */

type Token = NonNullable<TokenPageData['token']>

/** A holder, or one row for all holders that are not on this page. */
interface Row {
  readonly key: string
  readonly bech32: string | undefined
  readonly name: string
  readonly amount: string
  readonly share: number
}

const words = chainTexts.token

export const page = objectPage(document, 'token', TokenPage, {
  ...byName(words, ({ token }: TokenPageData) => token),
})

function TokenPage({ of: token, place }: ObjectViewProps<TokenPageData, 'token'>) {
  const rows = rowsOf(token, place)
  return (
    <>
      <ChainHeading
        title={headingOf(token, words)}
        id={token.tokenId}
        isDestroyed={token.isDestroyed}
      />
      <Supply of={token} />
      <Facts>
        <SupplyFacts of={token} />
        <Fact name={words.foundry}>
          <Id of="foundry" id={token.tokenId} />{' '}
          <span class="muted">
            {chainTexts.serialNumber} {grouped(token.serialNumber)}
          </span>
        </Fact>
        <IdFact name={chainTexts.account} of="account" id={token.accountId} />
        <IdFact name={chainTexts.destroyedBy} of="transaction" id={token.destroyedBy} />
        <TimeFact name={chainTexts.changed} at={token.lastOutput?.bookedAt} />
      </Facts>
      <TableSection
        of={holderTable}
        rows={rows}
        isLive
        above={!place.query.has('after') && <Shares of={rows.map(({ share }) => share)} />}
      >
        <Paging place={place} next={nextOf(token.holders)} />
      </TableSection>
      <MetadataSection of={token.immutableMetadata} />
    </>
  )
}

function Supply({ of: { circulatingSupply, maximumSupply } }: { readonly of: Token }) {
  const share = Number(circulatingSupply) / Number(maximumSupply)
  return (
    <p class="balance-total">
      <span class="amount">{grouped(BigInt(circulatingSupply))}</span>{' '}
      <span class="muted">
        {words.circulating}, {words.ofMaximum(percent(share))}
      </span>
    </p>
  )
}

/** The holders of this page; on the first page also the rest of the supply. */
function rowsOf({ holders, circulatingSupply }: Token, { query }: Place): Row[] {
  const rows = holders.nodes.map(({ address: { bech32 }, amount, share }) => ({
    ...{ key: bech32, bech32, name: bech32, amount, share },
  }))
  const rest = holders.nodes.reduce(
    (left, { amount }) => left - BigInt(amount),
    BigInt(circulatingSupply),
  )
  if (query.has('after') || rest <= 0n) return rows
  const name = holders.pageInfo.hasNextPage ? words.rest : words.unowned
  const share = Number(rest) / Number(circulatingSupply)
  return [...rows, { key: 'rest', bech32: undefined, name, amount: String(rest), share }]
}

const holderTable: TableDefinition<Row> = {
  caption: words.holders,
  keyOf: ({ key }) => key,
  empty: words.noHolders,
  columns: [
    {
      head: words.holder,
      cell: ({ bech32, name }) =>
        bech32 === undefined ? <span class="muted">{name}</span> : <Id of="address" id={bech32} />,
    },
    tokensColumn(words.amount, ({ amount }) => amount),
    { head: words.share, cell: ({ share }) => percent(share), isNumber: true },
  ],
}
