import { grouped, shortened } from '../../format.ts'
import { linkTo, type Place } from '../../router.ts'
import { chainTexts } from '../../texts-chains.ts'
import { timeColumn, transactionColumn } from '../tables/columns.tsx'
import { Paging } from '../tables/paging.tsx'
import type { TableDefinition } from '../tables/table.tsx'
import { TableSection } from '../tables/table-section.tsx'
import { Amount } from '../values/amount.tsx'
import { Id } from '../values/id.tsx'
import { Isolated } from '../values/isolated.tsx'
import { type Change, changesOf, isOfBaseTokens } from './changes.ts'

/** The states of a chain, newest first, each with its changes from the previous state. */

/** The states that a page requests: one more than it shows, so that the last shown state can be compared with its predecessor. */
export interface ChainStates {
  readonly totalCount: string
  readonly nodes: readonly ChainState[]
  readonly edges: readonly { readonly cursor: string }[]
  readonly pageInfo: { readonly hasNextPage: boolean }
}

export interface ChainState {
  readonly number: string
  readonly outputId: string
  readonly transactionId: string
  readonly milestone: { readonly index: number; readonly endedAt: string } | null
  readonly output: { readonly content: object } | null
}

interface Row extends ChainState {
  readonly changes: readonly Change[]
  readonly isFirst: boolean
}

const words = chainTexts.history

interface HistoryProps {
  readonly of: ChainStates
  readonly place: Place
}

export function History({ of: states, place }: HistoryProps) {
  const rows = rowsOf(states)
  return (
    <TableSection
      of={stateTable}
      rows={rows}
      isLive
      aside={<span class="muted">{words.inAll(grouped(states.totalCount))}</span>}
    >
      <Paging
        place={place}
        next={states.pageInfo.hasNextPage ? states.edges[rows.length - 1]?.cursor : null}
      />
    </TableSection>
  )
}

function rowsOf({ nodes, pageInfo }: ChainStates): Row[] {
  const shown = pageInfo.hasNextPage ? nodes.slice(0, -1) : nodes
  return shown.map((state, n) => {
    const before = nodes[n + 1]
    const changes = changesOf(before?.output?.content ?? {}, state.output?.content ?? {})
    return { ...state, changes, isFirst: before === undefined }
  })
}

const stateTable: TableDefinition<Row> = {
  caption: words.title,
  keyOf: ({ number }) => number,
  empty: words.none,
  columns: [
    {
      head: words.number,
      cell: ({ number, outputId }) => (
        <a href={linkTo('output', { id: outputId })}>{grouped(number)}</a>
      ),
    },
    timeColumn(words.when, ({ milestone }) => milestone?.endedAt),
    transactionColumn,
    { head: words.changes, cell: (row) => <Changes of={row} /> },
  ],
}

function Changes({ of: { changes, isFirst } }: { readonly of: Row }) {
  if (changes.length === 0) return <span class="muted">{words.same}</span>
  return (
    <ul class="changes">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          <span class="muted" title={name} data-copy={name}>
            <Isolated of={name.replace(/0x\w+/, shortened)} />
          </span>{' '}
          <Step name={name} before={before} after={after} isFirst={isFirst} />
        </li>
      ))}
    </ul>
  )
}

interface StepProps {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
  readonly isFirst: boolean
}

function Step({ name, before, after, isFirst }: StepProps) {
  if (before === undefined) {
    return (
      <>
        {!isFirst && <span class="state state-created">+ {words.added}</span>}{' '}
        <Value name={name} of={after ?? ''} />
      </>
    )
  }
  if (after === undefined) {
    return (
      <>
        <span class="state state-spent">− {words.removed}</span> <Value name={name} of={before} />
      </>
    )
  }
  return (
    <>
      <Value name={name} of={before} /> <span class="muted">→</span>{' '}
      <Value name={name} of={after} />
    </>
  )
}

/** Formats a value by its form: a number in groups, base tokens in their unit, an address as a link, bytes shortened. */
function Value({ name, of: value }: { readonly name: string; readonly of: string }) {
  if (isOfBaseTokens(name, value)) return <Amount value={value} />
  if (/^[0-9]+$/.test(value)) return <span class="count">{grouped(value)}</span>
  if (/^[a-z]+1[02-9ac-hj-np-z]{20,}$/.test(value)) return <Id of="address" id={value} />
  return (
    <code title={value} class="metadata-value" data-copy={value}>
      <Isolated of={value.startsWith('0x') ? shortened(value) : value} />
    </code>
  )
}
