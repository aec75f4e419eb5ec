import { type ChainsPageData, document } from '../../generated/explorer/chains.ts'
import { grouped } from '../format.ts'
import { listPage, type RowOf } from '../list-page.tsx'
import { AccessNodes, IsActive } from '../parts/chain-record.tsx'
import { idColumn, timeColumn } from '../parts/columns.tsx'
import type { Column } from '../parts/table.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.record

const columns: readonly Column<RowOf<ChainsPageData['chainRecords']>>[] = [
  idColumn(words.chain, 'chain', ({ chainId }) => chainId),
  { head: words.state, cell: ({ isActive }) => <IsActive isActive={isActive} /> },
  { head: words.accessNodes, cell: ({ accessNodes }) => <AccessNodes of={accessNodes} /> },
  { head: words.version, cell: ({ version }) => grouped(version), isNumber: true },
  { head: words.who, cell: ({ setBy }) => setBy },
  timeColumn(words.when, ({ setAt }) => setAt),
]

/** The list of all chain records. */
export const page = listPage({
  document,
  title: words.list,
  list: ({ chainRecords }) => chainRecords,
  columns,
  empty: words.noRecords,
  live: 'MILESTONES',
})
