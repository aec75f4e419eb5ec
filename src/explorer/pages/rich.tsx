import { document, type RichPageData } from '../../generated/explorer/rich.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Amount, Count } from '../parts/amount.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { nextOf, Paging } from '../parts/paging.tsx'
import { Percent } from '../parts/shares.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ToolHeading } from '../parts/tool-nav.tsx'
import { afterIn } from '../router.ts'
import { texts } from '../texts.ts'
import { toolTexts } from '../texts-tools.ts'

/** The rich list: the distribution of the base tokens over addresses, and the richest addresses. */

type Range = RichPageData['balanceDistribution'][number]
type Address = NonNullable<RichPageData['addresses']>['nodes'][number]

const words = toolTexts.rich

export const page = definePage({
  document,
  variables: afterIn,
  title: () => words.title,
  View: RichPage,
})

function RichPage({ data, place }: PageViewProps<RichPageData>) {
  const { status, balanceDistribution, addresses } = data
  const supply = BigInt(status.baseTokenSupply)
  return (
    <>
      <ToolHeading title={words.title} />
      <Facts>
        <Fact name={words.supply}>
          <Amount value={status.baseTokenSupply} />
        </Fact>
        <Fact name={words.addresses}>
          <Count value={status.addresses} />
        </Fact>
      </Facts>
      <Section title={words.distribution}>
        <Table
          caption={words.distribution}
          rows={balanceDistribution}
          keyOf={({ from }) => from}
          columns={rangeColumns(supply)}
          empty={words.none}
        />
      </Section>
      <Section title={words.richest}>
        <Table
          caption={words.richest}
          rows={addresses?.nodes ?? []}
          keyOf={({ id }) => id}
          columns={addressColumns(supply)}
          empty={words.none}
          isLive={!place.query.has('after')}
        />
        <Paging place={place} next={addresses && nextOf(addresses.pageInfo)} />
      </Section>
    </>
  )
}

/** An amount as a fraction of the supply, from 0 to 1. */
function shareOf(amount: string, supply: bigint): number {
  return supply === 0n ? 0 : Number(amount) / Number(supply)
}

/** A share as a percentage and as a bar. */
function Share({ of: share }: { readonly of: number }) {
  return (
    <span class="share">
      <Percent of={share} />
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} />
      </span>
    </span>
  )
}

function rangeColumns(supply: bigint): readonly Column<Range>[] {
  return [
    { head: words.from, cell: ({ from }) => <Amount value={from} isBare />, isNumber: true },
    { head: words.below, cell: ({ to }) => <Amount value={to} isBare />, isNumber: true },
    {
      head: words.count,
      cell: ({ addressCount }) => <Count value={addressCount} />,
      isNumber: true,
    },
    { head: words.own, cell: ({ total }) => <Amount value={total} isBare />, isNumber: true },
    { head: words.share, cell: ({ total }) => <Share of={shareOf(total, supply)} /> },
  ]
}

function addressColumns(supply: bigint): readonly Column<Address>[] {
  return [
    { head: words.address, cell: ({ bech32 }) => <Id of="address" id={bech32} /> },
    { head: words.kind, cell: ({ kind }) => texts.addressKind[kind] ?? kind },
    {
      head: words.outputs,
      cell: ({ balance }) => <Count value={balance.outputCount} />,
      isNumber: true,
    },
    {
      head: words.balance,
      cell: ({ balance }) => <Amount value={balance.total} isBare />,
      isNumber: true,
    },
    {
      head: words.share,
      cell: ({ balance }) => <Share of={shareOf(balance.total, supply)} />,
    },
  ]
}
