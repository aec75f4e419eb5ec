import { Section } from './facts.tsx'
import { type Column, Table } from './table.tsx'

/** A section that consists of one table. */

interface TableSectionProps<Row extends { readonly name: string }> {
  readonly title: string
  /** The rows; at least one. */
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
}

/** A table of named values with their meaning, such as parameters and limits. */
export function TableSection<Row extends { readonly name: string }>({
  title,
  rows,
  columns,
}: TableSectionProps<Row>) {
  return (
    <Section title={title}>
      <Table
        caption={title}
        rows={rows}
        keyOf={({ name }) => name}
        columns={columns}
        empty={null}
      />
    </Section>
  )
}

/** The meaning of a value, as a sentence. */
export function Meaning({ of: sentence }: { readonly of: string | undefined }) {
  return <span class="meaning muted">{sentence}</span>
}
