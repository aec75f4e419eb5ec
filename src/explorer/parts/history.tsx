import { words as asWords, grouped, shortened } from '../format.ts'
import { linkTo, type Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'
import { Amount } from './amount.tsx'
import { Section } from './facts.tsx'
import { Id } from './id.tsx'
import { Paging } from './paging.tsx'
import { type Column, Table } from './table.tsx'
import { Time } from './time.tsx'

/** The states of a chain, the newest first, each as what it changed of the one before. */

/** The states that a page asks for: one more than it shows, so that the last one has one to be compared with. */
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

/** A state, and what it changed. */
interface Row extends ChainState {
  readonly changes: readonly Change[]
  readonly isFirst: boolean
}

/** One field that differs: of what is new there is no value before, of what is gone none after. */
export interface Change {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const words = chainTexts.history

interface HistoryProps {
  readonly of: ChainStates
  readonly place: Place
}

export function History({ of: states, place }: HistoryProps) {
  const rows = rowsOf(states)
  return (
    <Section
      title={words.title}
      aside={<span class="muted">{words.inAll(grouped(states.totalCount))}</span>}
    >
      <Table
        caption={words.title}
        rows={rows}
        keyOf={({ number }) => number}
        columns={columns}
        empty={words.none}
        isLive
      />
      <Paging
        place={place}
        next={states.pageInfo.hasNextPage ? states.edges[rows.length - 1]?.cursor : null}
      />
    </Section>
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

/** What differs between two contents, in the order of their fields. */
export function changesOf(before: object, after: object): Change[] {
  const [old, current] = [factsOf(before), factsOf(after)]
  const names = new Set([...current.keys(), ...old.keys()])
  return [...names]
    .map((name) => ({ name, before: old.get(name), after: current.get(name) }))
    .filter((one) => one.before !== one.after)
}

/** Every value in a content by its name in words: `staking: fixed cost`. */
function factsOf(content: object): ReadonlyMap<string, string> {
  const facts = new Map<string, string>()
  for (const [key, value] of Object.entries(content)) {
    if (key === '__typename' || value === null) continue
    const name = asWords(key)
    if (Array.isArray(value)) addList(facts, name, value)
    else if (typeof value === 'object') {
      // An address is its text, and what is written in one field needs no name of its own.
      if ('bech32' in value) facts.set(name, String(value.bech32))
      else for (const [inner, one] of factsOf(value)) facts.set(inner, one)
    } else facts.set(name, tokenFields.has(key) ? String(BigInt(value)) : String(value))
  }
  return facts
}

/** Numbers of native tokens, which GraphQL writes in hexadecimal digits. */
const tokenFields = new Set(['mintedTokens', 'meltedTokens', 'maximumSupply', 'tokenAmount'])

/** Conditions and features stand under their own names, metadata under its keys, and other lists as one value. */
function addList(facts: Map<string, string>, name: string, list: readonly unknown[]): void {
  for (const one of list) {
    if (typeof one !== 'object' || one === null) continue
    if ('__typename' in one) {
      const kind = asWords(String(one.__typename)).replace(/ (?:feature|unlock condition)$/, '')
      const inner = factsOf(one)
      if (inner.size === 0) facts.set(kind, '')
      // What a condition is named after is not said twice.
      for (const [key, value] of inner) {
        facts.set(kind.endsWith(key) ? kind : `${kind}: ${key}`, value)
      }
    } else if ('key' in one && 'value' in one) {
      facts.set(String(one.key), String(one.value))
    } else {
      const [value] = Object.values(one)
      facts.set(`${name} ${shortened(String(value))}`, '')
    }
  }
}

const columns: readonly Column<Row>[] = [
  {
    head: words.number,
    cell: ({ number, outputId }) => (
      <a href={linkTo('output', { id: outputId })}>{grouped(number)}</a>
    ),
  },
  {
    head: words.when,
    cell: ({ milestone }) => (milestone === null ? '–' : <Time at={milestone.endedAt} />),
  },
  {
    head: words.transaction,
    cell: ({ transactionId }) => <Id of="transaction" id={transactionId} />,
  },
  { head: words.changes, cell: (row) => <Changes of={row} /> },
]

function Changes({ of: { changes, isFirst } }: { readonly of: Row }) {
  if (changes.length === 0) return <span class="muted">{words.same}</span>
  return (
    <ul class="changes">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          <span class="muted">{name}</span>{' '}
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

/** A value by its look: a number in groups, base tokens in their unit, an address as a link, bytes shortened. */
function Value({ name, of: value }: { readonly name: string; readonly of: string }) {
  if (/(?<!token )amount$/.test(name)) return <Amount value={value} />
  if (/^[0-9]+$/.test(value)) return <span class="count">{grouped(value)}</span>
  if (/^[a-z]+1[02-9ac-hj-np-z]{20,}$/.test(value)) return <Id of="address" id={value} />
  return (
    <code title={value} class="metadata-value">
      {value.startsWith('0x') ? shortened(value) : value}
    </code>
  )
}
