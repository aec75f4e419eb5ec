import { type BlockPageData, document } from '../../generated/explorer/block.ts'
import { grouped, words as wordsOf } from '../format.ts'
import { byId, type ObjectViewProps, objectPage } from '../page.tsx'
import { ByteTree } from '../parts/bytes/byte-tree.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { ObjectHeading } from '../parts/object-heading.tsx'
import { blockColumn, blockTable, issuedColumn, timeColumn } from '../parts/tables/columns.tsx'
import { nextOf, Paging } from '../parts/tables/paging.tsx'
import type { TableDefinition } from '../parts/tables/table.tsx'
import { TableSection } from '../parts/tables/table-section.tsx'
import { Id, PlainId } from '../parts/values/id.tsx'
import { MilestoneLink } from '../parts/values/milestone-link.tsx'
import { State } from '../parts/values/state.tsx'
import { FullTime } from '../parts/values/time.tsx'
import { texts } from '../texts.ts'
import '../styles/details.css'

/** The page of a block: its contents, its parents and its children. */

type Block = NonNullable<BlockPageData['block']>
type Parent = Block['parents'][number]
type Child = NonNullable<Block['children']>['nodes'][number]

const words = texts.block

export const page = objectPage(document, 'block', BlockPage, {
  ...byId(words),
  // A block gets children for a while, without a change of the ledger.
})

function BlockPage({ of: block, place }: ObjectViewProps<BlockPageData, 'block'>) {
  return (
    <>
      <ObjectHeading title={words.heading} id={block.blockId}>
        <State of={block.state} />
      </ObjectHeading>
      <BlockFacts of={block} />
      <div class="columns columns-even">
        <TableSection of={parentTable} rows={block.parents} />
        <TableSection
          of={childTable}
          rows={block.children?.nodes}
          missing={texts.states.notOffered}
          isLive
        >
          <Paging place={place} next={nextOf(block.children)} by="childrenAfter" />
        </TableSection>
      </div>
      <ByteTree fields={block.fields} bytes={block.bytes} />
    </>
  )
}

function BlockFacts({ of: block }: { readonly of: Block }) {
  const { header, body } = block.content
  return (
    <Facts>
      <Fact name={words.issued}>
        <FullTime at={block.issuedAt} />
      </Fact>
      <Fact name={words.slot}>
        {block.milestone === null ? grouped(block.slot) : <MilestoneLink index={block.slot} />}
      </Fact>
      <Fact name={words.issuer}>
        {block.issuer === null ? (
          <PlainId id={block.issuerId} isSigned />
        ) : (
          <Id of="account" id={block.issuerId} />
        )}
      </Fact>
      <Fact name={words.body}>{wordsOf(body.__typename)}</Fact>
      <Fact name={words.transaction}>
        {block.transaction !== null && (
          <>
            <Id of="transaction" id={block.transaction.transactionId} />{' '}
            <State of={block.transaction.state} />
          </>
        )}
      </Fact>
      <Fact name={words.commitment}>
        {block.commitment !== null && <MilestoneLink index={block.commitment.index} />}
      </Fact>
      <Fact name={words.burnedMana}>{'maxBurnedMana' in body && grouped(body.maxBurnedMana)}</Fact>
      <Fact name={words.network}>
        <code>{header.networkId}</code>
      </Fact>
    </Facts>
  )
}

const parentTable: TableDefinition<Parent> = {
  caption: words.parents,
  keyOf: ({ kind, blockId }) => `${kind} ${blockId}`,
  empty: words.noParents,
  columns: [
    blockColumn,
    { head: words.kindOf, cell: ({ kind }) => wordsOf(kind) },
    timeColumn(words.issued, ({ block }) => block?.issuedAt),
  ],
}

const childTable = blockTable<Child>({
  caption: words.children,
  empty: words.noChildren,
  columns: [issuedColumn],
})
