import { document, type RichPageData } from '../../generated/explorer/rich.ts'
import type { PageViewProps } from '../page.tsx'
import { Facts } from '../parts/facts.tsx'
import { amountColumn, countColumn, idColumn } from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Percent } from '../parts/values/shares.tsx'
import { AmountFact, CountFact } from '../parts/values/value-facts.tsx'
import { cursorsIn } from '../router.ts'
import { texts } from '../texts.ts'
import { toolTexts } from '../texts-tools.ts'
import { toolPage } from '../tool-page.tsx'

/** The rich list: the distribution of the base tokens over addresses, and the richest addresses. */

type Range = RichPageData['balanceDistribution'][number]
type Address = NonNullable<RichPageData['addresses']>['nodes'][number]

const words = toolTexts.rich

export const page = toolPage(document, RichPage, {
  title: words.title,
  variables: cursorsIn,
})

function RichPage({ data, place }: PageViewProps<RichPageData>) {
  const { status, balanceDistribution, addresses } = data
  const supply = BigInt(status.baseTokenSupply)
  return (
    <>
      <Facts>
        <AmountFact name={words.supply} value={status.baseTokenSupply} />
        <CountFact name={words.addresses} value={status.addresses} />
      </Facts>
      <TableSection of={rangeTable(supply)} rows={balanceDistribution} />
      <TableSection
        of={addressTable(supply)}
        rows={addresses?.nodes}
        isLive={!place.query.has('after')}
      >
        <Paging place={place} next={nextOf(addresses)} />
      </TableSection>
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

function rangeTable(supply: bigint): TableDefinition<Range> {
  return {
    caption: words.distribution,
    keyOf: ({ from }) => from,
    empty: words.none,
    columns: [
      amountColumn(words.from, ({ from }) => from),
      amountColumn(words.below, ({ to }) => to),
      countColumn(words.count, ({ addressCount }) => addressCount),
      amountColumn(words.own, ({ total }) => total),
      { head: words.share, cell: ({ total }) => <Share of={shareOf(total, supply)} /> },
    ],
  }
}

function addressTable(supply: bigint): TableDefinition<Address> {
  return {
    caption: words.richest,
    keyOf: ({ id }) => id,
    empty: words.none,
    columns: [
      idColumn(words.address, 'address', ({ bech32 }) => bech32),
      { head: words.kind, cell: ({ kind }) => texts.addressKind[kind] ?? kind },
      countColumn(words.outputs, ({ balance }) => balance.outputCount),
      amountColumn(words.balance, ({ balance }) => balance.total),
      { head: words.share, cell: ({ balance }) => <Share of={shareOf(balance.total, supply)} /> },
    ],
  }
}
