import type { ComponentChildren } from 'preact'
import type { Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'
import { nextOf, Paging } from './paging.tsx'
import { type Column, Table } from './table.tsx'

/** A page that consists of one list. */

interface Connection<Row> {
  readonly nodes: readonly Row[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

interface ListProps<Row> {
  readonly title: string
  /** The rows; `null` if the gateway does not have this data. */
  readonly of: Connection<Row> | null
  readonly columns: readonly Column<Row>[]
  readonly empty: ComponentChildren
  readonly place: Place
  /** Filters of the list. */
  readonly children?: ComponentChildren
}

export function List<Row extends { readonly id: string }>({
  title,
  of,
  columns,
  empty,
  ...rest
}: ListProps<Row>) {
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
        {rest.children}
      </div>
      <div class="list">
        <Table
          caption={title}
          rows={of?.nodes ?? []}
          keyOf={({ id }) => id}
          columns={columns}
          empty={of === null ? chainTexts.notOffered : empty}
          isLive={!rest.place.query.has('after')}
        />
      </div>
      <Paging place={rest.place} next={of && nextOf(of.pageInfo)} />
    </>
  )
}
