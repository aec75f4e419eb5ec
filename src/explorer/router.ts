import { signal } from '@preact/signals'
import { addressOf, pathBelowRoot } from './base.ts'
import { decodedPart, type PageName, type PagePlace, pageAt, pagePaths } from './paths.ts'

/** Client-side router: follows links, back and forward without reloading the explorer. */

/** A visited page with the parameters of its URL. */
export interface Place extends PagePlace {
  readonly query: URLSearchParams
  /** Text after `#`, which browsers do not send to the gateway. */
  readonly fragment: string
  /** Number of the visit, unique even for visits of the same URL. */
  readonly visit: number
  /** Scroll position in pixels when the page was left; 0 for a new visit. */
  readonly scroll: number
  /** Name of the list of the page that continues on another page; not set for other visits. */
  readonly list?: string | undefined
}

let visits = 0

/** The identifier of the current entry of the browser's history. */
let entry: number = history.state?.entry ?? newEntry()

/** Scroll positions in pixels of the entries that were left by back or forward. */
const leftAt = new Map<number, number>()

/** The current place; `undefined` if the explorer has no such page. */
export const place = signal(placeOf(new URL(location.href), history.state?.scroll ?? 0))

/** The path of a page below the root. */
function pathOf(name: PageName, parameters: Readonly<Record<string, string>> = {}): string {
  return pagePaths[name].replace(/:(\w+)/g, (_, part) => encodeURIComponent(parameters[part] ?? ''))
}

/** The URL of a page, for a link. */
export function linkTo(
  name: PageName,
  parameters: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string>> = {},
): string {
  const text = new URLSearchParams(query).toString()
  return addressOf(pathOf(name, parameters)) + (text === '' ? '' : `?${text}`)
}

/** The cursors in a URL, as variables of the page's document. */
export function cursorsIn({ query }: Place): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name]) => isCursor(name)))
}

/** Whether a parameter of a URL is the cursor of a list: `after`, or on a page with several lists a name such as `outputsAfter`. */
export function isCursor(name: string): boolean {
  return name === 'after' || name.endsWith('After')
}

/** Navigates to a URL as a link does, to its top unless a list of the page continues there. */
export function navigate(address: string, list?: string): void {
  const url = new URL(address, document.baseURI)
  const next = placeOf(url, list === undefined ? 0 : scrollY)
  if (next === undefined) {
    location.assign(url)
    return
  }
  rememberScroll()
  entry = newEntry()
  history.pushState({ entry }, '', url)
  place.value = { ...next, list }
}

/** Handles clicks on links to pages of the explorer, and back and forward. */
export function startRouter(): void {
  history.scrollRestoration = 'manual'
  rememberScroll()
  addEventListener('popstate', ({ state }) => {
    // The browser has already left the former entry, so its state can no longer be changed.
    leftAt.set(entry, scrollY)
    entry = state?.entry ?? newEntry()
    place.value = placeOf(new URL(location.href), leftAt.get(entry) ?? state?.scroll ?? 0)
  })
  addEventListener('pagehide', rememberScroll)
  // A browser that reloads the page reads the state of the entry before it hides the page.
  addEventListener('beforeunload', rememberScroll)
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    if (placeOf(new URL(link.href), 0) === undefined) return
    event.preventDefault()
    navigate(link.href, link.dataset.list)
  })
}

function rememberScroll(): void {
  leftAt.delete(entry)
  history.replaceState({ entry, scroll: scrollY }, '')
}

/** An identifier of a new entry of the browser's history, which no entry from before a reload has. */
function newEntry(): number {
  return Math.random()
}

function placeOf(url: URL, scroll: number): Place | undefined {
  const path = pathBelowRoot(url)
  const found = path === undefined ? undefined : pageAt(path)
  if (found === undefined) return undefined
  visits += 1
  const fragment = decodedPart(url.hash.slice(1))
  return { ...found, query: url.searchParams, fragment, visit: visits, scroll }
}
