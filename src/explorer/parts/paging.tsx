import { linkTo, type Place } from '../router.ts'
import { chainTexts } from '../texts-chains.ts'

/** Links to the other pages of a list, by `?after=CURSOR`. */

interface PagingProps {
  readonly place: Place
  /** Cursor of the next page; not set on the last page. */
  readonly next: string | null | undefined
}

export function Paging({ place, next }: PagingProps) {
  const { after, ...others } = Object.fromEntries(place.query)
  const to = (query: Readonly<Record<string, string>>) =>
    linkTo(place.name, place.parameters, query)
  if (after === undefined && next == null) return null
  return (
    <p class="steps paging">
      {after !== undefined && <a href={to(others)}>{chainTexts.first}</a>}
      {next != null && <a href={to({ ...others, after: next })}>{chainTexts.more}</a>}
    </p>
  )
}

/** The cursor of the next page of a connection. */
export function nextOf(pageInfo: {
  readonly hasNextPage: boolean
  readonly endCursor: string | null
}): string | null {
  return pageInfo.hasNextPage ? pageInfo.endCursor : null
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
