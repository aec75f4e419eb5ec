import { effect, type Signal, signal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { shortened } from './format.ts'
import { type Answer, endpoint, type Failure, type TypedDocument } from './graphql.ts'
import { generation, milestones, paused } from './milestones.ts'
import { fetchWithFrame } from './network.ts'
import { isSame } from './parts/same.ts'
import { Failed, Loading, Missing } from './parts/states.tsx'
import { FirstPage } from './parts/tables/paging.tsx'
import { createRetry } from './retry.ts'
import { cursorsIn, type Place } from './router.ts'

/**
 * A page consists of one document and one view. It requests its document when it is opened, and again when a milestone may have
 * changed its content. So every page is live, and all of its content is from one snapshot.
 */

export interface PageDefinition<Data, Variables> {
  readonly document: TypedDocument<Data, Variables>
  readonly variables: (place: Place) => Variables
  /** Returns the title of the tab; the data is `undefined` until it is loaded. */
  readonly title: (place: Place, data: Data | undefined) => string
  /** Whether the requested object is missing, on the ledger or because of the failures. */
  readonly isMissing?: (data: Data, failures: readonly Failure[]) => boolean
  /** Returns the kind and the id of the requested object, for the message that it is missing. */
  readonly target?: (place: Place) => { readonly kind: string; readonly id: string }
  /** Returns the content for a missing object that is not there yet; `undefined` for an object that never was or is no longer kept. */
  readonly notYet?: (place: Place) => ComponentChildren
  /** When the content may change; by default `MILESTONES`. */
  readonly live?: (data: Data, place: Place) => Liveness
  readonly View: ComponentType<PageViewProps<Data>>
}

/**
 * When a page is requested again. `UPDATES`: after milestones that created or spent outputs; `MILESTONES`: after every milestone,
 * because the end of a timelock, an expiration or a block without a transaction changes the content too; `SECONDS`: after every
 * milestone and every few seconds; `NEVER`: the content is final.
 */
export type Liveness = 'UPDATES' | 'MILESTONES' | 'SECONDS' | 'NEVER'

export interface PageViewProps<Data> {
  readonly data: Data
  readonly place: Place
  /** Failures of fields, with their paths. */
  readonly failures: readonly Failure[]
}

/** A page that is open at a place. */
export interface OpenPage {
  readonly place: Place
  readonly title: Signal<string>
  /** URL of GraphiQL with the document and its variables. */
  readonly queryAddress: string | undefined
  /** Whether no answer has arrived. */
  readonly isLoading: () => boolean
  readonly render: () => ComponentChildren
  readonly close: () => void
}

/** The export of a page module. */
export interface Page {
  readonly open: (place: Place) => OpenPage
}

type PageState<Data> =
  | { readonly name: 'LOADING' }
  | { readonly name: 'FAILED'; readonly failure: Failure }
  | Shown<Data>

interface Shown<Data> {
  readonly name: 'SHOWN'
  readonly data: Data
  readonly failures: readonly Failure[]
}

export function definePage<Data, Variables extends object>(
  definition: PageDefinition<Data, Variables>,
): Page {
  const remembered = new Map<string, Shown<Data>>()
  return { open: (place) => openPage(definition, place, remembered) }
}

export interface ObjectViewProps<Data, Field extends keyof Data> extends PageViewProps<Data> {
  /** The requested object. */
  readonly of: NonNullable<Data[Field]>
}

/** Defines a page of one object of the ledger, a field of the response that is `null` if the object is missing. */
export function objectPage<Data, Variables extends object, Field extends keyof Data>(
  document: TypedDocument<Data, Variables>,
  field: Field,
  View: ComponentType<ObjectViewProps<Data, Field>>,
  rest: Omit<PageDefinition<Data, Variables>, 'document' | 'isMissing' | 'View'>,
): Page {
  return definePage({
    ...rest,
    document,
    isMissing: (data) => data[field] === null,
    View: (props) => {
      const of = props.data[field]
      return of == null ? null : <View {...props} of={of} />
    },
  })
}

/** Shared parts of the pages of objects whose path contains an `id`. */
export function byId(words: { readonly kind: string; readonly title: (id: string) => string }) {
  const idAt = ({ parameters }: Place) => parameters.id ?? ''
  return {
    variables: (place: Place) => ({ id: idAt(place), ...cursorsIn(place) }),
    title: (place: Place) => words.title(shortened(idAt(place))),
    target: (place: Place) => ({ kind: words.kind, id: idAt(place) }),
  }
}

/** Number of answers that a page keeps, so that going back shows the previous content at once. */
const maxRemembered = 10

function openPage<Data, Variables extends object>(
  definition: PageDefinition<Data, Variables>,
  place: Place,
  remembered: Map<string, Shown<Data>>,
): OpenPage {
  const variables = definition.variables(place)
  const { text } = definition.document
  const key = JSON.stringify(variables)
  const known = remembered.get(key)
  const state = signal<PageState<Data>>(known ?? { name: 'LOADING' })
  const title = signal(definition.title(place, known?.data))
  const closing = new AbortController()
  const requests = createRequestQueue(
    () => fetchWithFrame(definition.document, variables, closing.signal),
    show,
  )
  const retry = createRetry(requests.request)

  function show(given: Answer<Data>): void {
    retry.cancel()
    if (closing.signal.aborted) return
    const answer = withoutPart(definition, given)
    if (!answer.ok) {
      const isRetried = retry.plan(answer.failure)
      // The content stays: the status line shows that the gateway does not respond, and the next milestone triggers a request.
      const isKept = state.peek().name === 'SHOWN' && (isRetried || !given.ok)
      if (!isKept) state.value = { name: 'FAILED', failure: answer.failure }
      return
    }
    const shown = { name: 'SHOWN', data: answer.data, failures: answer.failures } as const
    // A long page takes a slow device longer than a slot to render, and most milestones do not change it.
    if (!isSame(state.peek(), shown)) state.value = shown
    title.value = definition.title(place, answer.data)
    remember(remembered, key, shown)
  }

  function liveness(): Liveness {
    const shown = state.peek()
    // A milestone that arrives before the first answer may be newer than this answer.
    if (shown.name === 'LOADING') return 'MILESTONES'
    return shown.name === 'SHOWN' ? (definition.live?.(shown.data, place) ?? 'MILESTONES') : 'NEVER'
  }

  // While a retry is planned, milestones do not cause requests.
  const request = () => {
    if (!retry.isPlanned()) requests.request()
  }
  const stopRefreshing = refresh({ liveness, request })
  requests.request()
  return {
    place,
    title,
    queryAddress: editorAddress(text, variables),
    isLoading: () => state.value.name === 'LOADING',
    render: () => contentOf(definition, { place, shown: state.value, retry: requests.request }),
    close: () => {
      closing.abort()
      retry.close()
      stopRefreshing()
    },
  }
}

/** The answer for a page, which is a failure if the object of the page is missing because of it, or the URL names no page of a list. */
function withoutPart<Data, Variables>(
  { isMissing }: PageDefinition<Data, Variables>,
  answer: Answer<Data>,
): Answer<Data> {
  if (!answer.ok) return answer
  const { data, failures } = answer
  const failure =
    failures.find(isOfCursor) ?? (isMissing?.(data, failures) ? failures[0] : undefined)
  return failure === undefined ? answer : { ok: false, failure }
}

function isOfCursor({ code }: Failure): boolean {
  return code.includes('CURSOR')
}

interface RefreshDeps {
  readonly liveness: () => Liveness
  readonly request: () => void
}

/** Requests a page again when its content may have changed; returns a function that ends this. */
function refresh({ liveness, request }: RefreshDeps): () => void {
  let lastIndex = milestones.peek()[0]?.index
  let lastGeneration = generation.peek()

  const stop = effect(() => {
    const former = lastIndex
    const isReplaced = generation.value !== lastGeneration
    lastIndex = milestones.value[0]?.index
    lastGeneration = generation.value
    // The milestones that arrive with the first answer belong to the same snapshot.
    const isNew = former !== undefined && lastIndex !== former
    if (isReplaced || (isNew && mayChange(liveness(), former))) request()
  })
  const timer = setInterval(() => {
    if (!document.hidden && paused.peek() === undefined && liveness() === 'SECONDS') request()
  }, refreshMs)
  return () => {
    clearInterval(timer)
    stop()
  }
}

/** Whether the milestones after one may have changed a page. */
function mayChange(live: Liveness, former: number): boolean {
  if (live !== 'UPDATES') return live !== 'NEVER'
  const news = milestones.peek().filter(({ index }) => index > former)
  // After a long pause the oldest of them are not known.
  return news.at(-1)?.index !== former + 1 || news.some(({ updateCount }) => updateCount !== '0')
}

interface ShownPage<Data> {
  readonly place: Place
  readonly shown: PageState<Data>
  readonly retry: () => void
}

function contentOf<Data, Variables>(
  definition: PageDefinition<Data, Variables>,
  { place, shown, retry }: ShownPage<Data>,
): ComponentChildren {
  if (shown.name === 'LOADING') return <Loading />
  if (shown.name === 'FAILED') {
    return (
      <>
        <Failed failure={shown.failure} retry={retry} />
        {isOfCursor(shown.failure) && <FirstPage place={place} />}
      </>
    )
  }
  if (definition.isMissing?.(shown.data, shown.failures)) {
    const notYet = definition.notYet?.(place)
    if (notYet !== undefined) return notYet
    const { kind, id } = definition.target?.(place) ?? { kind: 'page', id: '' }
    return <Missing kind={kind} id={id} />
  }
  const { View } = definition
  return <View data={shown.data} place={place} failures={shown.failures} />
}

function remember<State>(remembered: Map<string, State>, key: string, state: State): void {
  remembered.delete(key)
  remembered.set(key, state)
  for (const oldest of remembered.keys()) {
    if (remembered.size <= maxRemembered) break
    remembered.delete(oldest)
  }
}

/** Sends one request at a time. Calls during a request cause one more request after it. */
function createRequestQueue<Data>(
  send: () => Promise<Answer<Data>>,
  onAnswer: (answer: Answer<Data>) => void,
) {
  let isRunning = false
  let isWanted = false

  async function run(): Promise<void> {
    isRunning = true
    try {
      do {
        isWanted = false
        onAnswer(await send())
      } while (isWanted)
    } catch {
      // The page was closed.
    } finally {
      isRunning = false
    }
  }

  return {
    request: () => {
      if (isRunning) isWanted = true
      else void run()
    },
  }
}

/** Milliseconds between requests of a page with liveness `SECONDS`. */
const refreshMs = 5_000

/** URL of GraphiQL with the document and its variables; `undefined` if the URL would be too long. */
function editorAddress(query: string, variables: object): string | undefined {
  const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
  const address = `${endpoint.pathname}?${parameters}`
  return address.length <= maxAddressLength ? address : undefined
}

/** The gateway accepts request heads of up to 16 KiB, and a browser adds some headers. */
const maxAddressLength = 14_000
