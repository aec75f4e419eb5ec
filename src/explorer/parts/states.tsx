import type { ComponentChildren } from 'preact'
import type { Failure } from '../graphql.ts'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** Content that replaces a page: loading, errors and missing objects. */

/** A grey placeholder of a page; it appears only if the response takes long enough to notice. */
export function Loading() {
  return (
    <div class="skeleton" role="status" aria-label={texts.states.loading}>
      <div class="skeleton-title" />
      <div class="skeleton-row" />
      <div class="skeleton-row" />
      <div class="skeleton-row" />
      <div class="skeleton-row" />
    </div>
  )
}

/** Error codes that another request would return again. */
const finalCodes: ReadonlySet<string> = new Set([
  'BAD_USER_INPUT',
  'ADDRESS_MALFORMED',
  'ADDRESS_OF_ANOTHER_NETWORK',
  'CURSOR_MALFORMED',
  'CURSOR_OF_ANOTHER_LOG',
])

export function Failed({
  failure,
  retry,
}: {
  readonly failure: Failure
  readonly retry: () => void
}) {
  const isFinal = finalCodes.has(failure.code)
  return (
    <div class="notice">
      <h1>{isFinal ? texts.states.noId : texts.states.failed}</h1>
      <p>{sentenceOf(failure)}</p>
      <p class="muted">
        {texts.states.code} <code>{failure.code}</code>
      </p>
      {isFinal ? (
        <a class="button" href={linkTo('home')}>
          {texts.states.home}
        </a>
      ) : (
        <button type="button" class="button" onClick={retry}>
          {texts.states.retry}
        </button>
      )}
    </div>
  )
}

export function Missing({ kind, id }: { readonly kind: string; readonly id: string }) {
  return (
    <div class="notice">
      <h1>{texts.states.missing(kind)}</h1>
      <p class="id-whole">{id}</p>
      <p>{texts.states.missingHint}</p>
      <a class="button" href={linkTo('search', {}, { q: id })}>
        {texts.states.searchIt}
      </a>
    </div>
  )
}

export function NoPage() {
  return (
    <div class="notice">
      <h1>{texts.states.noPage}</h1>
      <a class="button" href={linkTo('home')}>
        {texts.states.home}
      </a>
    </div>
  )
}

/** A list without rows. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

/** The message of a failure for users. */
export function sentenceOf({ code, message }: Failure): string {
  switch (code) {
    case 'OFFLINE':
      return texts.states.offline
    case 'STORE_AWAY':
    case 'HTTP_503':
      return texts.states.away
    case 'HTTP_401':
    case 'TOKEN_INVALID':
      return texts.states.unauthorized
    case 'ADDRESS_OF_ANOTHER_NETWORK':
      return texts.states.otherNetwork
    case 'BAD_USER_INPUT':
    case 'ADDRESS_MALFORMED':
      return texts.states.malformed
    case 'CURSOR_MALFORMED':
    case 'CURSOR_OF_ANOTHER_LOG':
      return texts.states.noPart
    default:
      return message
  }
}
