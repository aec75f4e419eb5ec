import { document } from '../../generated/explorer/chains.ts'
import { grouped } from '../format.ts'
import { listPage } from '../list-page.tsx'
import { AccessNodes, IsActive, setByColumn } from '../parts/chains/chain-record.tsx'
import { idColumn, timeColumn } from '../parts/tables/columns.tsx'
import { chainTexts } from '../texts-chains.ts'

const words = chainTexts.record

export const page = listPage(document, 'chainRecords', {
  title: words.list,
  empty: words.noRecords,
  columns: [
    idColumn(words.chain, 'chain', ({ chainId }) => chainId),
    { head: words.state, cell: ({ isActive }) => <IsActive isActive={isActive} /> },
    { head: words.accessNodes, cell: ({ accessNodes }) => <AccessNodes of={accessNodes} /> },
    { head: words.version, cell: ({ version }) => grouped(version), isNumber: true },
    setByColumn,
    timeColumn(words.when, ({ setAt }) => setAt),
  ],
})
