import type { ComponentChildren } from 'preact'
import { Section } from '../facts.tsx'
import { Table, type TableDefinition } from './table.tsx'

interface TableSectionProps<Row> {
  readonly of: TableDefinition<Row>
  /** `undefined` if the gateway does not have the list. */
  readonly rows: readonly Row[] | undefined
  /** Content if the gateway does not have the list; by default that of an empty list. */
  readonly missing?: ComponentChildren
  /** Whether rows that are added later are highlighted. */
  readonly isLive?: boolean
  /** Content next to the heading, at the end of the line. */
  readonly aside?: ComponentChildren
  /** Content between the heading and the table. */
  readonly above?: ComponentChildren
  /** Content below the table, such as links to its other pages. */
  readonly children?: ComponentChildren
}

/** A section that consists of one table, with the caption of the table as its heading. */
export function TableSection<Row>({
  of: table,
  rows,
  missing = table.empty,
  isLive = false,
  aside,
  above,
  children,
}: TableSectionProps<Row>) {
  return (
    <Section title={table.caption} aside={aside}>
      {above}
      <Table
        {...table}
        empty={rows === undefined ? missing : table.empty}
        rows={rows ?? []}
        isLive={isLive}
      />
      {children}
    </Section>
  )
}

export function Meaning({ of: sentence }: { readonly of: string | undefined }) {
  return <span class="meaning muted">{sentence}</span>
}
