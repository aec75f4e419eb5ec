import type { ComponentChildren } from 'preact'
import type { Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'
import { Paging } from './paging.tsx'
import { type Column, Table } from './table.tsx'

/** A page that is one list. */

interface ListProps<Row> {
  readonly title: string
  /** `undefined` where the gateway does not know them. */
  readonly rows: readonly Row[] | undefined
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly empty: ComponentChildren
  readonly place: Place
  readonly next: string | null | undefined
  /** What chooses among the rows. */
  readonly children?: ComponentChildren
}

export function List<Row>({ title, rows, keyOf, columns, empty, ...rest }: ListProps<Row>) {
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
        {rest.children}
      </div>
      <div class="list">
        <Table
          caption={title}
          rows={rows ?? []}
          keyOf={keyOf}
          columns={columns}
          empty={rows === undefined ? chainTexts.notOffered : empty}
          isLive={!rest.place.query.has('after')}
        />
      </div>
      <Paging place={rest.place} next={rest.next} />
    </>
  )
}
