import { type ChainsPageData, document } from '../../generated/explorer/chains.ts'
import { grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { AccessNodes, IsActive } from '../parts/chain-record.tsx'
import { Id } from '../parts/id.tsx'
import { List } from '../parts/list.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { afterIn } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** The list of all chain records. */

type Entry = NonNullable<ChainsPageData['chainRecords']>['nodes'][number]

const words = chainTexts.record

export const page = definePage({
  document,
  variables: afterIn,
  title: () => words.list,
  live: () => 'MILESTONES',
  View: ChainsPage,
})

function ChainsPage({ data: { chainRecords }, place }: PageViewProps<ChainsPageData>) {
  return (
    <List
      title={words.list}
      of={chainRecords}
      columns={columns}
      empty={words.noRecords}
      place={place}
    />
  )
}

const columns: readonly Column<Entry>[] = [
  {
    head: words.chain,
    cell: ({ chainId }) => <Id of="chain" id={chainId} />,
  },
  { head: words.state, cell: ({ isActive }) => <IsActive isActive={isActive} /> },
  { head: words.accessNodes, cell: ({ accessNodes }) => <AccessNodes of={accessNodes} /> },
  { head: words.version, cell: ({ version }) => grouped(version), isNumber: true },
  { head: words.who, cell: ({ setBy }) => setBy },
  { head: words.when, cell: ({ setAt }) => <Time at={setAt} /> },
]
