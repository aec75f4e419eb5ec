import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Failure } from '../graphql.ts'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'

/** Content that replaces a page: loading, errors and missing objects. */

const { states } = texts

/** A grey placeholder of a page; it appears only if the response takes long enough to notice. */
export function Loading() {
  return (
    <div class="skeleton" role="status" aria-label={states.loading}>
      <div class="skeleton-title" />
      <div />
      <div />
      <div />
      <div />
    </div>
  )
}

/** Error codes that another request would return again. */
const finalCodes: ReadonlySet<string> = new Set([
  'BAD_USER_INPUT',
  'ADDRESS_MALFORMED',
  'ADDRESS_OF_ANOTHER_NETWORK',
  'CHAIN_ID_NOT_BECH32',
  'CHAIN_ID_NOT_A_CHAIN',
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
      <h1>{isFinal ? states.noPage : states.failed}</h1>
      <p>{sentenceOf(failure)}</p>
      <p class="muted">
        {states.code} <code>{failure.code}</code>
      </p>
      {isFinal ? (
        <a class="button" href={linkTo('home')}>
          {states.home}
        </a>
      ) : (
        <button type="button" class="button" onClick={retry}>
          {states.retry}
        </button>
      )}
    </div>
  )
}

export function Missing({ kind, id }: { readonly kind: string; readonly id: string }) {
  return (
    <div class="notice">
      <h1>{states.missing(kind)}</h1>
      <p class="id-whole">
        <code>{id}</code>
      </p>
      <p>{states.missingHint}</p>
      <a class="button" href={linkTo('search', {}, { q: id })}>
        {states.searchIt}
      </a>
    </div>
  )
}

export function NoPage() {
  useEffect(() => {
    document.title = `${states.noPage} · ${texts.product}`
  }, [])
  return (
    <div class="notice">
      <h1>{states.noPage}</h1>
      <a class="button" href={linkTo('home')}>
        {states.home}
      </a>
    </div>
  )
}

/** A list without rows. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

export function sentenceOf({ code, message }: Failure): string {
  return sentences.get(code) ?? (code.startsWith('HTTP_') ? ofStatus(code) : message)
}

/** The sentence for a response that is not from the gateway: that of a proxy without a gateway, or of a login page. */
function ofStatus(code: string): string {
  return code.startsWith('HTTP_5') ? states.offline : states.foreign
}

const sentences: ReadonlyMap<string, string> = new Map([
  ['OFFLINE', states.offline],
  ['STORE_AWAY', states.away],
  ['HTTP_401', states.unauthorized],
  ['HTTP_429', states.tooMany],
  ['TOKEN_INVALID', states.unauthorized],
  ['ADDRESS_OF_ANOTHER_NETWORK', states.otherNetwork],
  ['BAD_USER_INPUT', states.malformed],
  ['ADDRESS_MALFORMED', states.malformed],
  ['CHAIN_ID_NOT_BECH32', states.malformed],
  ['CHAIN_ID_NOT_A_CHAIN', states.malformed],
  ['CURSOR_MALFORMED', states.noPart],
  ['CURSOR_OF_ANOTHER_LOG', states.noPart],
])
