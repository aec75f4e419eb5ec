import { document, type TokenPageData } from '../../generated/explorer/token.ts'
import { grouped, shortened } from '../format.ts'
import { byId, definePage, type PageViewProps } from '../page.tsx'
import { Tokens } from '../parts/amount.tsx'
import { ChainHeading } from '../parts/chain.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Metadata } from '../parts/metadata.tsx'
import { nameIn } from '../parts/metadata-rows.ts'
import { nextOf, Paging } from '../parts/paging.tsx'
import { percent, Shares } from '../parts/shares.tsx'
import { SupplyFacts } from '../parts/supply.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
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

export const page = definePage({
  document,
  ...byId(words),
  title: ({ parameters }, data) =>
    words.title(nameOf(data?.token ?? null) ?? shortened(parameters.id ?? '')),
  isMissing: ({ token }) => token === null,
  View: TokenPage,
})

function nameOf(token: Token | null): string | undefined {
  return nameIn(token?.immutableMetadata?.entries)
}

function TokenPage({ data: { token }, place }: PageViewProps<TokenPageData>) {
  if (token === null) return null
  const name = nameOf(token)
  const rows = rowsOf(token, place)
  return (
    <>
      <ChainHeading
        title={name === undefined ? words.heading : words.title(name)}
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
        <Fact name={chainTexts.account}>
          <Id of="account" id={token.accountId} />
        </Fact>
        <Fact name={chainTexts.destroyedBy}>
          {token.destroyedBy !== null && <Id of="transaction" id={token.destroyedBy} />}
        </Fact>
        <Fact name={chainTexts.changed}>
          {token.lastOutput !== null && <Time at={token.lastOutput.bookedAt} />}
        </Fact>
      </Facts>
      <Section title={words.holders}>
        {!place.query.has('after') && <Shares of={rows.map(({ share }) => share)} />}
        <Table
          caption={words.holders}
          rows={rows}
          keyOf={({ key }) => key}
          columns={columns}
          empty={words.noHolders}
          isLive
        />
        <Paging place={place} next={nextOf(token.holders.pageInfo)} />
      </Section>
      {token.immutableMetadata !== null && (
        <Section title={chainTexts.metadata.title}>
          <Metadata of={token.immutableMetadata.entries} />
        </Section>
      )}
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

const columns: readonly Column<Row>[] = [
  {
    head: words.holder,
    cell: ({ bech32, name }) =>
      bech32 === undefined ? <span class="muted">{name}</span> : <Id of="address" id={bech32} />,
  },
  { head: words.amount, cell: ({ amount }) => <Tokens value={amount} />, isNumber: true },
  { head: words.share, cell: ({ share }) => percent(share), isNumber: true },
]
