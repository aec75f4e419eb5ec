import { median, printTable } from '../measure.ts'
import type { Case, Measured } from './load.ts'
import { bare, gatewayPeer, mercurius, type Peer, peers, postgraphile, pothos } from './peers.ts'

/** The measured requests, and the tables of their cost. */

/** A column of a table. */
export interface Column extends Case {
  readonly head: string
  /** Whether the short run contains the column. */
  readonly short?: true
  /** Whether the gateway receives 500 blocks per second meanwhile. */
  readonly withBlocks?: true
}

const page = { kind: 'page', choice: 'random', rows: 20, connections: 16 } as const

/** The columns; each list is a table. */
export const tables: readonly (readonly Column[])[] = [
  [
    { ...page, head: '20 rows', short: true },
    { ...page, head: '100 rows', rows: 100, short: true },
    { ...page, head: '1,000 rows', rows: 1_000 },
  ],
  [
    { ...page, head: '20 rows, 1 connection', connections: 1 },
    { ...page, head: '64 connections', connections: 64 },
    { ...page, head: 'newest pages', choice: 'newest' },
  ],
  [
    { ...page, head: 'hot page of 20', choice: 'hot', short: true },
    { ...page, head: 'hot page of 100', choice: 'hot', rows: 100 },
  ],
  [
    { ...page, head: '20 rows and their outputs', kind: 'outputs', choice: 'linked' },
    { ...page, head: '20 rows, outputs to blocks', kind: 'nested', choice: 'linked', short: true },
  ],
  [
    { ...page, head: 'REST, 20 rows', kind: 'rest', short: true },
    { ...page, head: 'REST, 100 rows', kind: 'rest', rows: 100 },
  ],
  [{ ...page, head: '20 rows, during 500 blocks per second', withBlocks: true }],
]

/** The measurements of each server, one per round. */
export type Results = ReadonlyMap<Column, ReadonlyMap<Peer, readonly Measured[]>>

/** Prints the tables, and the ratios with their targets. */
export function printResults(database: string, results: Results): void {
  for (const columns of tables) {
    const measured = columns.filter((column) => results.has(column))
    const some = measured.flatMap((column) => [...(results.get(column)?.keys() ?? [])])
    if (measured.length === 0) continue
    printTable([
      ['', ...measured.map(({ head }) => head)],
      ...peers
        .filter((peer) => some.includes(peer))
        .map((peer) => [
          peer.name,
          ...measured.map((column) => cell(results.get(column)?.get(peer))),
        ]),
    ])
    console.log()
  }
  if (database === 'PostgreSQL') {
    printTable(databaseTable(results))
    console.log()
  }
  const ratios = barsOf(database).flatMap((bar) => barRow(results, bar))
  if (ratios.length === 0) return
  printTable([['ratio of processor times', '', 'target', 'measured'], ...ratios])
  console.log()
}

/** The processor time of the database server per request, without the columns whose blocks it also writes. */
function databaseTable(results: Results): readonly string[][] {
  const measured = [...results].filter(([{ withBlocks }]) => !withBlocks)
  const rows = measured.map(([{ head }, ofPeers]) => [
    head,
    ...peers.map((peer) => {
      const all = ofPeers.get(peer)?.flatMap(({ databaseUs }) => databaseUs ?? []) ?? []
      return all.length === 0 ? '' : median(all).toFixed(0)
    }),
  ])
  return [["PostgreSQL's own µs", ...peers.map(({ name }) => name)], ...rows]
}

function cell(measured: readonly Measured[] | undefined): string {
  if (measured === undefined) return ''
  const cpu = median(measured.map(({ cpuUs }) => cpuUs))
  const rate = median(measured.map(({ perSecond }) => perSecond))
  return `${cpu.toFixed(0)} (${rate.toFixed(0)})`
}

/** A target for a ratio of processor times. */
interface Bar {
  readonly head: string
  readonly of: Peer
  readonly to: Peer
  readonly target: string
}

const barsOfPages: { readonly [database: string]: readonly Omit<Bar, 'head'>[] } = {
  SQLite: [
    { of: gatewayPeer, to: mercurius, target: 'at most 1.2' },
    { of: pothos, to: gatewayPeer, target: 'at least 4' },
  ],
  PostgreSQL: [
    { of: gatewayPeer, to: mercurius, target: 'at most 1.5' },
    { of: postgraphile, to: gatewayPeer, target: 'at least 2' },
  ],
}

function barsOf(database: string): readonly Bar[] {
  const pages = barsOfPages[database] ?? []
  const toBare = { of: gatewayPeer, to: bare }
  return [
    ...['20 rows', '100 rows'].flatMap((head) => pages.map((bar) => ({ head, ...bar }))),
    { head: 'hot page of 20', ...toBare, target: 'at most 0.6' },
    { head: 'hot page of 100', ...toBare, target: 'at most 0.6' },
    { head: '20 rows and their outputs', of: pothos, to: gatewayPeer, target: '' },
    { head: '20 rows, outputs to blocks', of: pothos, to: gatewayPeer, target: 'at least 4' },
    { head: 'REST, 20 rows', ...toBare, target: 'at most 1.3' },
    { head: 'REST, 100 rows', ...toBare, target: 'at most 1.3' },
  ]
}

/** The row of a target, with the median of the ratios of all rounds; none if one of the two servers was not measured. */
function barRow(results: Results, { head, of, to, target }: Bar): readonly string[][] {
  const measured = [...results].find(([column]) => column.head === head)?.[1]
  const [above, below] = [measured?.get(of), measured?.get(to)]
  if (above === undefined || below === undefined) return []
  const ratios = above.map(({ cpuUs }, round) => cpuUs / (below[round]?.cpuUs ?? Number.NaN))
  return [[head, `${of.name} to ${to.name}`, target, median(ratios).toFixed(2)]]
}
