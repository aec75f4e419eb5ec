import { effect, type Signal, signal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { shortened } from './format.ts'
import { type Answer, endpoint, type Failure, type TypedDocument } from './graphql.ts'
import { generation, milestones } from './live.ts'
import { askWithFrame, type Tip } from './network.ts'
import { Paging } from './parts/paging.tsx'
import { Failed, Loading, Missing } from './parts/states.tsx'
import { afterIn, type Place } from './router.ts'

/**
 * A page is one document and one view. It asks for its document when it is opened, and again when a milestone may have changed
 * what it shows, so that every page is live, and what it shows is of one moment.
 */

export interface PageDefinition<Data, Variables> {
  readonly document: TypedDocument<Data, Variables>
  readonly variables: (place: Place) => Variables
  /** What the tab and the history call it; `undefined` for the data while there are none. */
  readonly title: (place: Place, data: Data | undefined) => string
  /** Whether the ledger has what was asked for; where it has not, the page says which kind was looked for. */
  readonly isMissing?: (data: Data) => boolean
  /** The text that was looked for, where it is missing. */
  readonly sought?: (place: Place) => { readonly kind: string; readonly id: string }
  /** After which milestones it may have changed; by default those with updates. */
  readonly live?: (data: Data, place: Place) => Liveness
  readonly View: ComponentType<PageViewProps<Data>>
}

/**
 * `UPDATES`: milestones that changed the ledger; `MILESTONES`: each; `SECONDS`: also where none come; `NEVER`: what it shows is
 * final.
 */
export type Liveness = 'UPDATES' | 'MILESTONES' | 'SECONDS' | 'NEVER'

export interface PageViewProps<Data> {
  readonly data: Data
  readonly place: Place
  /** Parts that could not be had, with the paths of their fields. */
  readonly failures: readonly Failure[]
}

/** A page that is shown at a place. */
export interface OpenPage {
  readonly place: Place
  readonly title: Signal<string>
  /** The document with its variables, in the editor. */
  readonly queryAddress: string | undefined
  readonly render: () => ComponentChildren
  readonly close: () => void
}

/** What a page module exports. */
export interface Page {
  readonly open: (place: Place) => OpenPage
}

type PageState<Data> =
  | { readonly name: 'LOADING' }
  | { readonly name: 'FAILED'; readonly failure: Failure }
  | { readonly name: 'SHOWN'; readonly data: Data; readonly failures: readonly Failure[] }

export function definePage<Data, Variables extends object>(
  definition: PageDefinition<Data, Variables>,
): Page {
  const remembered = new Map<string, Data>()
  return { open: (place) => openPage(definition, place, remembered) }
}

/** What the pages of things have in common that are found by an id, which the path has under a name. */
export function byId(words: { readonly kind: string; readonly title: (id: string) => string }) {
  const idAt = ({ parameters }: Place) => parameters.id ?? ''
  return {
    variables: (place: Place) => ({ id: idAt(place), ...afterIn(place) }),
    title: (place: Place) => words.title(shortened(idAt(place))),
    sought: (place: Place) => ({ kind: words.kind, id: idAt(place) }),
  }
}

/** How many answers a page remembers, so that back shows at once what was there. */
const mostRemembered = 10

function openPage<Data, Variables extends object>(
  definition: PageDefinition<Data, Variables>,
  place: Place,
  remembered: Map<string, Data>,
): OpenPage {
  const variables = definition.variables(place)
  const { text } = definition.document
  const key = JSON.stringify(variables)
  const known = remembered.get(key)
  const state = signal<PageState<Data>>(
    known === undefined ? { name: 'LOADING' } : { name: 'SHOWN', data: known, failures: [] },
  )
  const title = signal(definition.title(place, known))
  const closing = new AbortController()
  const asking = createAsking(
    () => askWithFrame(definition.document, variables, closing.signal),
    take,
  )

  let retry: ReturnType<typeof setTimeout> | undefined

  function take(answer: Answer<Data>): void {
    clearTimeout(retry)
    if (closing.signal.aborted) return
    if (!answer.ok) {
      // What is shown stays: the status line says that the gateway does not answer, and the next milestone asks again.
      if (state.peek().name !== 'SHOWN') state.value = { name: 'FAILED', failure: answer.failure }
      if (isPassing(answer.failure)) retry = setTimeout(asking.ask, retryMs)
      return
    }
    state.value = { name: 'SHOWN', data: answer.data, failures: answer.failures }
    title.value = definition.title(place, answer.data)
    remember(remembered, key, answer.data)
  }

  let lastIndex = milestones.peek()[0]?.index
  let lastGeneration = generation.peek()
  const stop = effect(() => {
    const index = milestones.value[0]?.index
    const isReplaced = generation.value !== lastGeneration
    // The milestones that come with the first answer are those of the same moment.
    const isNew = lastIndex !== undefined && index !== lastIndex
    lastIndex = index
    lastGeneration = generation.value
    if ((isNew || isReplaced) && (isReplaced || mayHaveChanged())) asking.ask()
  })

  function liveness(): Liveness {
    const shown = state.peek()
    return shown.name === 'SHOWN' ? (definition.live?.(shown.data, place) ?? 'UPDATES') : 'NEVER'
  }

  function mayHaveChanged(): boolean {
    const live = liveness()
    return live === 'UPDATES' ? hasUpdates(milestones.peek()[0]) : live !== 'NEVER'
  }

  const beat = setInterval(() => {
    if (!document.hidden && liveness() === 'SECONDS') asking.ask()
  }, beatMs)
  asking.ask()

  function render(): ComponentChildren {
    const shown = state.value
    if (shown.name === 'LOADING') return <Loading />
    if (shown.name === 'FAILED') return <Failed failure={shown.failure} retry={asking.ask} />
    if (definition.isMissing?.(shown.data)) {
      // The root of the page is null for a reason, as for an address of another network.
      const reason = shown.failures.find(({ path }) => path.length === 1)
      if (reason !== undefined) return <Failed failure={reason} retry={asking.ask} />
      const { kind, id } = definition.sought?.(place) ?? { kind: 'page', id: '' }
      return <Missing kind={kind} id={id} />
    }
    // The address asks for a part that the list does not have: a view would take it for an empty list.
    const noPart = shown.failures.find(({ code }) => code.includes('CURSOR'))
    if (noPart !== undefined) {
      return (
        <>
          <Failed failure={noPart} retry={asking.ask} />
          <Paging place={place} next={null} />
        </>
      )
    }
    const { View } = definition
    return <View data={shown.data} place={place} failures={shown.failures} />
  }

  return {
    place,
    title,
    queryAddress: editorAddress(text, variables),
    render,
    close: () => {
      closing.abort()
      clearTimeout(retry)
      clearInterval(beat)
      stop()
    },
  }
}

function remember<Data>(remembered: Map<string, Data>, key: string, data: Data): void {
  remembered.delete(key)
  remembered.set(key, data)
  for (const oldest of remembered.keys()) {
    if (remembered.size <= mostRemembered) break
    remembered.delete(oldest)
  }
}

/** Asks one after the other: what is wanted meanwhile is one more request after the one under way. */
function createAsking<Data>(
  request: () => Promise<Answer<Data>>,
  take: (answer: Answer<Data>) => void,
) {
  let isUnderWay = false
  let isWanted = false

  async function run(): Promise<void> {
    isUnderWay = true
    try {
      do {
        isWanted = false
        take(await request())
      } while (isWanted)
    } catch {
      // The page was left.
    } finally {
      isUnderWay = false
    }
  }

  return {
    ask: () => {
      if (isUnderWay) isWanted = true
      else void run()
    },
  }
}

/** What another request a little later may not meet. */
function isPassing({ code }: Failure): boolean {
  return (
    ['OFFLINE', 'STORE_AWAY', 'QUERY_TOO_LONG', 'INTERNAL'].includes(code) || /^HTTP_5/.test(code)
  )
}

const retryMs = 2_000

/** Where no milestones come, this often is often enough. */
const beatMs = 5_000

function hasUpdates(milestone: Tip | undefined): boolean {
  return milestone !== undefined && milestone.updateCount !== '0'
}

/** GraphiQL with the document and its variables; `undefined` where no address has room for them. */
export function editorAddress(query: string, variables: object): string | undefined {
  const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
  const address = `${endpoint.pathname}?${parameters}`
  return address.length <= longestAddress ? address : undefined
}

/** The gateway takes heads of requests of 16 KiB, and a browser adds a few lines. */
const longestAddress = 14_000
