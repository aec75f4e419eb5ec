import { chainTexts } from '../texts-chains.ts'
import { type MetadataEntry, type MetadataRow, metadataRows } from './metadata-rows.ts'
import { type Column, Table } from './table.tsx'

/** Metadata as a table. */

const words = chainTexts.metadata

export function Metadata({
  of: entries,
  title = words.title,
}: {
  readonly of: readonly MetadataEntry[]
  readonly title?: string
}) {
  return (
    <Table
      caption={title}
      rows={metadataRows(entries)}
      keyOf={({ name }) => name}
      columns={columns}
      empty={words.none}
    />
  )
}

const columns: readonly Column<MetadataRow>[] = [
  { head: words.key, cell: ({ name }) => name },
  { head: words.value, cell: (row) => <Value of={row} /> },
]

function Value({ of: { value, isText } }: { readonly of: MetadataRow }) {
  if (isText) {
    return (
      <span class="metadata-value" data-copy={value}>
        {value.length > 300 ? cut(value) : value}
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
