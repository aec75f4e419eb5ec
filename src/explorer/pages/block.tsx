import { type BlockPageData, document } from '../../generated/explorer/block.ts'
import { grouped, words as wordsOf } from '../format.ts'
import { byId, definePage, type PageViewProps } from '../page.tsx'
import { ByteTree } from '../parts/byte-tree.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id, PlainId } from '../parts/id.tsx'
import { State } from '../parts/state.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time, WholeTime } from '../parts/time.tsx'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'
import '../styles/details.css'

/** The page of a block: its contents, its parents and its children. */

type Block = NonNullable<BlockPageData['block']>
type Parent = Block['parents'][number]
type Child = NonNullable<Block['children']>['nodes'][number]

const words = texts.block

export const page = definePage({
  document,
  ...byId(words),
  isMissing: ({ block }) => block === null,
  // A block gets children for a while, without a change of the ledger.
  live: () => 'MILESTONES',
  View: BlockPage,
})

function BlockPage({ data: { block } }: PageViewProps<BlockPageData>) {
  if (block === null) return null
  return (
    <>
      <div class="heading">
        <h1>{words.heading}</h1>
        <State of={block.state} />
      </div>
      <PlainId id={block.blockId} />
      <BlockFacts of={block} />
      <Relatives of={block} />
      <ByteTree fields={block.fields} bytes={block.bytes} />
    </>
  )
}

function BlockFacts({ of: block }: { readonly of: Block }) {
  const { header, body } = block.content
  return (
    <Facts>
      <Fact name={words.issued}>
        <WholeTime at={block.issuedAt} />
      </Fact>
      <Fact name={words.slot}>
        {block.milestone === null ? (
          grouped(block.slot)
        ) : (
          <a href={linkTo('milestone', { index: String(block.slot) })}>{grouped(block.slot)}</a>
        )}
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
        {block.commitment !== null && (
          <a href={linkTo('milestone', { index: String(block.commitment.index) })}>
            {grouped(block.commitment.index)}
          </a>
        )}
      </Fact>
      <Fact name={words.burnedMana}>{'maxBurnedMana' in body && grouped(body.maxBurnedMana)}</Fact>
      <Fact name={words.network}>
        <code>{header.networkId}</code>
      </Fact>
    </Facts>
  )
}

/** The parents and the children of a block, side by side. */
function Relatives({ of: { parents, children } }: { readonly of: Block }) {
  return (
    <div class="columns columns-even">
      <Section title={words.parents}>
        <Table
          caption={words.parents}
          rows={parents}
          keyOf={({ kind, blockId }) => `${kind} ${blockId}`}
          columns={parentColumns}
          empty={words.noParents}
        />
      </Section>
      <Section title={words.children}>
        <Table
          caption={words.children}
          rows={children?.nodes ?? []}
          keyOf={({ blockId }) => blockId}
          columns={childColumns}
          empty={words.noChildren}
          isLive
        />
      </Section>
    </div>
  )
}

const parentColumns: readonly Column<Parent>[] = [
  { head: words.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
  { head: words.kindOf, cell: ({ kind }) => wordsOf(kind) },
  {
    head: words.issued,
    cell: ({ block }) => (block === null ? '–' : <Time at={block.issuedAt} />),
  },
]

const childColumns: readonly Column<Child>[] = [
  { head: words.block, cell: ({ blockId }) => <Id of="block" id={blockId} /> },
  { head: words.issued, cell: ({ issuedAt }) => <Time at={issuedAt} /> },
]
