import { grouped } from '../../format.ts'
import { chainTexts } from '../../texts-chains.ts'
import { Fact, Facts } from '../facts.tsx'
import { type Column, Table } from '../tables/table.tsx'
import { Isolated } from '../values/isolated.tsx'
import { Mark } from '../values/mark.tsx'
import { Time } from '../values/time.tsx'

/** The record of a chain, and the changes of each of its versions. */

export interface RecordVersion {
  readonly version: number
  readonly accessNodes: readonly string[]
  readonly isActive: boolean
  readonly setAt: string
  readonly setBy: string
}

/** The versions that a page requests: one more than it shows, so that the last shown version can be compared with its predecessor. */
export interface RecordVersions {
  readonly nodes: readonly RecordVersion[]
  readonly pageInfo: { readonly hasNextPage: boolean }
}

const words = chainTexts.record

export function RecordFacts({ of: record }: { readonly of: RecordVersion }) {
  return (
    <Facts>
      <Fact name={words.state}>
        <IsActive isActive={record.isActive} />
      </Fact>
      <Fact name={words.accessNodes}>
        <AccessNodes of={record.accessNodes} />
      </Fact>
      <Fact name={words.version}>{grouped(record.version)}</Fact>
      <Fact name={words.setBy}>
        <Isolated of={record.setBy} />, <Time at={record.setAt} />
      </Fact>
    </Facts>
  )
}

export function IsActive({ isActive }: { readonly isActive: boolean }) {
  return (
    <Mark as={isActive ? 'done' : 'pending'} sign={isActive ? '✓' : '◌'}>
      {isActive ? words.active : words.inactive}
    </Mark>
  )
}

/** Access nodes as text. They are not links, because anyone who sets a chain record could name any URL. */
export function AccessNodes({ of: nodes }: { readonly of: readonly string[] }) {
  if (nodes.length === 0) return <span class="muted">{words.noAccessNodes}</span>
  return (
    <ul class="changes">
      {nodes.map((node) => (
        <li key={node}>
          <Isolated of={node} />
        </li>
      ))}
    </ul>
  )
}

/** A version and the previous version, which is `undefined` for the first. */
interface Row extends RecordVersion {
  readonly before: RecordVersion | undefined
}

export function Versions({ of: { nodes, pageInfo } }: { readonly of: RecordVersions }) {
  const shown = pageInfo.hasNextPage ? nodes.slice(0, -1) : nodes
  return (
    <Table
      caption={words.versions}
      rows={shown.map((one, n) => ({ ...one, before: nodes[n + 1] }))}
      keyOf={({ version }) => String(version)}
      columns={columns}
      empty={words.noVersions}
      isLive
    />
  )
}

export const setByColumn: Column<RecordVersion> = {
  head: words.setBy,
  cell: ({ setBy }) => <Isolated of={setBy} />,
}

const columns: readonly Column<Row>[] = [
  { head: words.version, cell: ({ version }) => grouped(version) },
  { head: words.when, cell: ({ setAt }) => <Time at={setAt} /> },
  setByColumn,
  { head: chainTexts.history.changes, cell: (row) => <Difference of={row} /> },
]

function Difference({ of: { accessNodes, isActive, before } }: { readonly of: Row }) {
  const former = before?.accessNodes ?? []
  const added = accessNodes.filter((node) => !former.includes(node))
  const removed = former.filter((node) => !accessNodes.includes(node))
  const isSwitched = before?.isActive !== isActive
  if (!isSwitched && added.length === 0 && removed.length === 0) {
    return <span class="muted">{words.sameAsBefore}</span>
  }
  return (
    <ul class="changes">
      {isSwitched && (
        <li>
          <IsActive isActive={isActive} />
        </li>
      )}
      {added.map((node) => (
        <li key={`+${node}`}>
          <span class="state state-created">+</span> <Isolated of={node} />
        </li>
      ))}
      {removed.map((node) => (
        <li key={`-${node}`}>
          <span class="state state-spent">−</span>{' '}
          <del>
            <Isolated of={node} />
          </del>
        </li>
      ))}
    </ul>
  )
}
