import { Section } from './facts.tsx'
import { type Column, Table } from './table.tsx'

/** Tables that are a section, under one name. */

interface TableSectionProps<Row extends { readonly name: string }> {
  readonly title: string
  /** Never none. */
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
}

/** Named values with what they mean: settings, parameters, limits. */
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

/** What a value means, in a sentence. */
export function Meaning({ of: sentence }: { readonly of: string | undefined }) {
  return <span class="meaning muted">{sentence}</span>
}
