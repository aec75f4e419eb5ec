import type { Place } from '../router.ts'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** What a connection says of the pages beside this one. */
export interface PageInfo {
  readonly hasNextPage: boolean
  readonly endCursor: string | null
}

/** The variable of a list whose older pages are places of their own. */
export function afterOf({ query }: Place): { readonly after?: string } {
  const after = query.get('after')
  return after === null ? {} : { after }
}

/** Leads to the newest page of a list, and to the one after this. They are links, so that back works. */
export function Pager({
  place,
  info,
}: {
  readonly place: Place
  readonly info: PageInfo | undefined
}) {
  const { name, parameters, query } = place
  const older = info?.hasNextPage ? info.endCursor : null
  if (older === null && !query.has('after')) return null
  return (
    <nav class="steps" aria-label={texts.more.label}>
      {query.has('after') && <a href={linkTo(name, parameters)}>{texts.more.newest}</a>}
      {older !== null && (
        <a href={linkTo(name, parameters, { after: older })}>{texts.more.older}</a>
      )}
    </nav>
  )
}
