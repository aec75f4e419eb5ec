import { isCursor, linkTo, type Place } from '../../router.ts'
import { chainTexts } from '../../texts-chains.ts'

/** Links to the other pages of a list, which a cursor in the URL selects, such as `?after=CURSOR`. */

interface PagingProps {
  readonly place: Place
  /** Cursor of the next page; not set on the last page. */
  readonly next: string | null | undefined
  /** Name of the cursor in the URL; `after` by default. With another name the page has several lists, and keeps its scroll position. */
  readonly by?: string
}

export function Paging({ place, next, by = 'after' }: PagingProps) {
  const { [by]: after, ...others } = Object.fromEntries(place.query)
  const link = (label: string, query: Readonly<Record<string, string>>) => (
    <a
      href={linkTo(place.name, place.parameters, query)}
      data-list={by === 'after' ? undefined : by}
    >
      {label}
    </a>
  )
  if (after === undefined && next == null) return null
  return (
    <p class="steps paging" id={`paging-${by}`} tabIndex={-1}>
      {after !== undefined && link(chainTexts.first, others)}
      {next != null && link(chainTexts.more, { ...others, [by]: next })}
    </p>
  )
}

/** A link to the first page of every list of a place. */
export function FirstPage({ place }: { readonly place: Place }) {
  const filters = Object.fromEntries([...place.query].filter(([name]) => !isCursor(name)))
  return (
    <p class="steps paging">
      <a href={linkTo(place.name, place.parameters, filters)}>{chainTexts.first}</a>
    </p>
  )
}

/** A connection as far as it tells whether it has another page. */
export interface Paged {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

/** The cursor of the next page of a connection, which is not set if the gateway does not have this data. */
export function nextOf(connection: Paged | null | undefined): string | null {
  return connection?.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null
}

interface ChoiceProps {
  readonly place: Place
  /** Name of the filter in the URL. */
  readonly by: string
  readonly label: string
  /** Labels by value; the empty value removes the filter. */
  readonly values: Readonly<Record<string, string>>
}

/** Links that select a filter value of a list. */
export function Choice({ place, by, label, values }: ChoiceProps) {
  const chosen = place.query.get(by) ?? ''
  const others = Object.entries(Object.fromEntries(place.query)).filter(
    ([name]) => name !== by && name !== 'after',
  )
  const to = (value: string): string => {
    const query = value === '' ? others : [...others, [by, value] as const]
    return linkTo(place.name, place.parameters, Object.fromEntries(query))
  }
  return (
    <nav class="choice" aria-label={label}>
      {Object.entries(values).map(([value, name]) => (
        <a key={value} href={to(value)} aria-current={value === chosen ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}

/** The enum value in a URL; `undefined` if the text is not one of the values. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  text: string | null,
): Value | undefined {
  return values.find((value) => value === text)
}
