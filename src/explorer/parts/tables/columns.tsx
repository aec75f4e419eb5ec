import type { ComponentChildren } from 'preact'
import { texts } from '../../texts.ts'
import { Amount, Count, Tokens } from '../values/amount.tsx'
import { Id, type IdOf } from '../values/id.tsx'
import { State } from '../values/state.tsx'
import { Time } from '../values/time.tsx'
import type { Column, TableDefinition } from './table.tsx'

/** Columns of one kind of value, which show a missing value as a dash, and tables that begin with an id. */

type ValueOf<Row> = (row: Row) => string | null | undefined

function column<Row>(
  head: string,
  take: ValueOf<Row>,
  draw: (value: string) => ComponentChildren,
): Column<Row> {
  return {
    head,
    cell: (row) => {
      const value = take(row)
      return value == null ? '–' : draw(value)
    },
  }
}

export function idColumn<Row>(head: string, of: IdOf, idOf: ValueOf<Row>): Column<Row> {
  return column(head, idOf, (id) => <Id of={of} id={id} />)
}

/** Defines a table whose first column is the id of each row. */
export function idTable<Row>(
  head: string,
  of: IdOf,
  idOf: (row: Row) => string,
  { columns, ...rest }: Omit<TableDefinition<Row>, 'keyOf'>,
): TableDefinition<Row> {
  return { ...rest, keyOf: idOf, columns: [idColumn(head, of, idOf), ...columns] }
}

export function timeColumn<Row>(head: string, timeOf: ValueOf<Row>): Column<Row> {
  return column(head, timeOf, (at) => <Time at={at} />)
}

/** A column of base tokens, without their unit. */
export function amountColumn<Row>(head: string, amountOf: ValueOf<Row>): Column<Row> {
  return { ...column(head, amountOf, (value) => <Amount value={value} isBare />), isNumber: true }
}

export function countColumn<Row>(
  head: string,
  countOf: (row: Row) => number | string | null,
): Column<Row> {
  return { head, cell: (row) => <Count value={countOf(row)} />, isNumber: true }
}

export function tokensColumn<Row>(head: string, amountOf: (row: Row) => string): Column<Row> {
  return { head, cell: (row) => <Tokens value={amountOf(row)} />, isNumber: true }
}

const words = texts.columns

/** The state of a block or a transaction. */
export const stateColumn: Column<{ readonly state: string }> = {
  head: words.state,
  cell: ({ state }) => <State of={state} />,
}

export const issuedColumn = timeColumn<{ readonly issuedAt: string }>(
  words.issued,
  ({ issuedAt }) => issuedAt,
)

export const transactionColumn = idColumn<{ readonly transactionId: string }>(
  words.transaction,
  'transaction',
  ({ transactionId }) => transactionId,
)

/** The transaction that a block carries, or that caused an update. */
export const itsTransactionColumn = idColumn<{
  readonly transaction: { readonly transactionId: string } | null
}>(words.transaction, 'transaction', ({ transaction }) => transaction?.transactionId)

interface WithBlockId {
  readonly blockId: string
}

const blockIdOf = ({ blockId }: WithBlockId) => blockId

export const blockColumn = idColumn(words.block, 'block', blockIdOf)

/** Defines a table of blocks. */
export function blockTable<Block extends WithBlockId>(
  rest: Omit<TableDefinition<Block>, 'keyOf'>,
): TableDefinition<Block> {
  return idTable(words.block, 'block', blockIdOf, rest)
}
