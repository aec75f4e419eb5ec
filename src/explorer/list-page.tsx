import type { ComponentChildren, ComponentType } from 'preact'
import type { TypedDocument } from './graphql.ts'
import { definePage, type Liveness, type Page } from './page.tsx'
import { nextOf, type Paged, Paging } from './parts/tables/paging.tsx'
import { type Column, Table } from './parts/tables/table.tsx'
import { cursorsIn, isCursor, type Place } from './router.ts'
import { chainTexts } from './texts-chains.ts'

/** A page that consists of one list. */

interface Connection<Row> extends Paged {
  readonly nodes: readonly Row[]
}

interface ListPageDefinition<Variables, Row> {
  readonly title: string
  readonly empty: ComponentChildren
  /** Content of an empty list with a filter; `empty` by default. */
  readonly emptyIfFiltered?: ComponentChildren
  readonly live?: Liveness
  /** Returns the variables of the filters, which are kept in the query of the URL. */
  readonly filter?: (query: URLSearchParams) => Variables
  /** Controls of the filters, next to the heading. */
  readonly Filters?: ComponentType<{ readonly place: Place }>
  readonly columns: readonly Column<Row>[]
}

/** Defines a page of one list, a field of the response that is `null` if the gateway does not have this data. */
export function listPage<
  Row extends { readonly id: string },
  Field extends string,
  Variables extends object,
>(
  document: TypedDocument<
    { readonly [Name in Field]: Connection<Row> | null },
    Variables & { readonly after?: string }
  >,
  field: Field,
  {
    title,
    empty,
    emptyIfFiltered = empty,
    live = 'MILESTONES',
    filter,
    Filters,
    columns,
  }: ListPageDefinition<Variables, Row>,
): Page {
  return definePage({
    document,
    variables: (place) => ({ ...filter?.(place.query), ...cursorsIn(place) }) as Variables,
    title: () => title,
    live: () => live,
    isMissing: (data, failures) =>
      data[field] === null && !failures.some(({ code }) => code === 'NOT_OFFERED_BY_NODES'),
    View: ({ data, place }) => {
      const shown = data[field]
      const isFiltered = [...place.query.keys()].some((name) => !isCursor(name))
      const isContinued = place.query.has('after')
      const emptyHere = isContinued ? chainTexts.noMore : isFiltered ? emptyIfFiltered : empty
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
              empty={shown === null ? chainTexts.notOffered : emptyHere}
              isLive={!isContinued}
            />
          </div>
          <Paging place={place} next={nextOf(shown)} />
        </>
      )
    },
  })
}
