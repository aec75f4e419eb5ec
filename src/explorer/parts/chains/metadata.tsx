import { chainTexts } from '../../texts-chains.ts'
import type { Column } from '../tables/table.tsx'
import { TableSection } from '../tables/table-section.tsx'
import { Isolated } from '../values/isolated.tsx'
import { type MetadataEntry, type MetadataRow, metadataRows } from './metadata-rows.ts'

const words = chainTexts.metadata

interface MetadataSectionProps {
  readonly of: { readonly entries: readonly MetadataEntry[] } | null
  readonly title?: string
}

/** Metadata as a table; not rendered if there is none. */
export function MetadataSection({ of: metadata, title = words.title }: MetadataSectionProps) {
  if (metadata === null) return null
  const table = { caption: title, keyOf: nameOf, columns, empty: words.none }
  return <TableSection of={table} rows={metadataRows(metadata.entries)} />
}

function nameOf({ name }: MetadataRow): string {
  return name
}

const columns: readonly Column<MetadataRow>[] = [
  { head: words.key, cell: ({ name }) => <Isolated of={name} /> },
  { head: words.value, cell: (row) => <Value of={row} /> },
]

function Value({ of: { value, isText } }: { readonly of: MetadataRow }) {
  if (isText) {
    return (
      <span class="metadata-value" data-copy={value}>
        <Isolated of={value.length > 300 ? cut(value) : value} />
      </span>
    )
  }
  return (
    <span class="metadata-value">
      <span class="muted">{words.bytes(value.length / 2 - 1)}</span>{' '}
      <code data-copy={value}>{cut(value)}</code>
    </span>
  )
}

function cut(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
