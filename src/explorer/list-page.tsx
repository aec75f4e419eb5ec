import type { ComponentChildren, ComponentType } from 'preact'
import type { TypedDocument } from './graphql.ts'
import { definePage, type Liveness, type Page } from './page.tsx'
import { nextOf, Paging } from './parts/paging.tsx'
import { type Column, Table } from './parts/table.tsx'
import { afterIn, type Place } from './router.ts'
import { chainTexts } from './texts-chains.ts'

/** A page that consists of one list. */

interface Connection<Row> {
  readonly nodes: readonly Row[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

/** A row of a list that a document requests. */
export type RowOf<List extends Connection<unknown> | null> = NonNullable<List>['nodes'][number]

interface ListPageDefinition<Data, Variables, Row> {
  readonly document: TypedDocument<Data, Variables & { readonly after?: string }>
  readonly title: string
  /** Returns the list; `null` if the gateway does not have this data. */
  readonly list: (data: Data) => Connection<Row> | null
  readonly columns: readonly Column<Row>[]
  readonly empty: ComponentChildren
  readonly live?: Liveness
  /** Returns the variables of the filters, which are kept in the query of the URL. */
  readonly filter?: (query: URLSearchParams) => Variables
  /** Controls of the filters, next to the heading. */
  readonly Filters?: ComponentType<{ readonly place: Place }>
}

export function listPage<Data, Variables extends object, Row extends { readonly id: string }>({
  document,
  title,
  list,
  columns,
  empty,
  live = 'UPDATES',
  filter,
  Filters,
}: ListPageDefinition<Data, Variables, Row>): Page {
  return definePage({
    document,
    variables: (place) => ({ ...filter?.(place.query), ...afterIn(place) }) as Variables,
    title: () => title,
    live: () => live,
    View: ({ data, place }) => {
      const shown = list(data)
      return (
        <>
          <div class="heading">
            <h1>{title}</h1>
            {Filters !== undefined && <Filters place={place} />}
          </div>
          <div class="list">
            <Table
              caption={title}
              rows={shown?.nodes ?? []}
              keyOf={({ id }) => id}
              columns={columns}
              empty={shown === null ? chainTexts.notOffered : empty}
              isLive={!place.query.has('after')}
            />
          </div>
          <Paging place={place} next={shown && nextOf(shown.pageInfo)} />
        </>
      )
    },
  })
}
