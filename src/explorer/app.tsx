import { computed, effect, signal, untracked } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { isRefused, isUnloaded } from './build.ts'
import { withoutDirections } from './format.ts'
import { Header } from './frame/header.tsx'
import { KeyboardHelp } from './frame/keyboard.tsx'
import { SlotStrip } from './frame/slot-strip.tsx'
import { StatusLine } from './frame/status-line.tsx'
import { offline } from './graphql.ts'
import { link } from './live.ts'
import { pause, paused } from './milestones.ts'
import { fetchFrame, frame } from './network.ts'
import type { OpenPage } from './page.tsx'
import { pageModules } from './pages.ts'
import { Failed, Loading, NoPage } from './parts/states.tsx'
import { type Place, place } from './router.ts'
import { texts } from './texts.ts'

/** The frame around every page, with the open page. */

/** The open page; `undefined` while its module is loading. */
const open = signal<OpenPage | undefined>(undefined)

/** Whether the gateway does not respond. The last content stays visible but loses its colours. */
const isOffline = computed(() => link.value.state === 'reconnecting')

/** Opens the page of each place. The previous page stays until the next page is loaded. */
export function startPages(): void {
  effect(() => {
    const { value: next } = place
    // Also while the pages are paused, a page is as of the time at which it is opened.
    if (paused.peek() !== undefined) untracked(pause)
    if (next === undefined) {
      replace(undefined)
      return
    }
    void openAt(next)
  })
  reloadWhenLive()
}

async function openAt(next: Place): Promise<void> {
  isUnloaded.value = false
  const module = await pageModules[next.name]().catch(() => undefined)
  if (place.peek() !== next) return
  replace(module?.page.open(next))
  isUnloaded.value = module === undefined
}

/** Whether there is no page that would request the frame. */
const lacksPage = computed(() => isUnloaded.value || place.value === undefined)

/**
 * Reloads the whole page once the gateway responds: after an upgrade of the gateway the files of the previous version are gone.
 * Reloads at most once a minute, because the missing file may stay missing.
 */
function reloadWhenLive(): void {
  effect(() => {
    if (lacksPage.value) void fetchFirstFrame()
  })
  effect(() => {
    if (!isRefused.value) return
    isRefused.value = false
    if (mayReload()) location.reload()
  })
  effect(() => {
    if (!isUnloaded.value || !['live', 'asking'].includes(link.value.state)) return
    // The connection may have broken unnoticed. Reloading then would replace the explorer by the error page of the browser.
    void fetchFrame().then((isLoaded) => isLoaded && mayReload() && location.reload())
  })
}

/** Without the frame, the explorer does not connect to the gateway and would not notice that it responds. */
async function fetchFirstFrame(): Promise<void> {
  while (lacksPage.peek() && frame.peek() === undefined && !(await fetchFrame()))
    await new Promise((resolve) => setTimeout(resolve, framePauseMs))
}

const framePauseMs = 2_000

/** Whether the last reload was more than a minute ago. If the browser blocks the storage, the user reloads the page. */
function mayReload(): boolean {
  try {
    if (Date.now() - Number(sessionStorage.getItem(reloadedAt) ?? 0) < 60_000) return false
    sessionStorage.setItem(reloadedAt, String(Date.now()))
    return true
  } catch {
    return false
  }
}

const reloadedAt = 'reloaded-at'

function replace(next: OpenPage | undefined): void {
  open.peek()?.close()
  open.value = next
}

export function App() {
  const page = open.value
  return (
    <>
      <button type="button" class="skip" onClick={focusPage}>
        {texts.skip}
      </button>
      <Header />
      <SlotStrip />
      <main id="page" tabIndex={-1} class={isOffline.value ? 'page page-offline' : 'page'}>
        {page === undefined ? <NoContent /> : <PageContent key={page.place.visit} page={page} />}
      </main>
      <StatusLine queryAddress={page?.queryAddress} />
      <KeyboardHelp />
    </>
  )
}

function NoContent() {
  if (isUnloaded.value) return <Failed failure={offline.failure} retry={() => location.reload()} />
  return place.value === undefined ? <NoPage /> : <Loading />
}

function PageContent({ page }: { readonly page: OpenPage }) {
  const title = page.title.value
  useEffect(() => {
    document.title = `${withoutDirections(title)} · ${texts.product}`
  }, [title])
  const { scroll, list } = page.place
  const isLoading = page.isLoading()
  useLayoutEffect(() => scrollTo(0, scroll), [page])
  useLayoutEffect(() => {
    // A page that was left has its former length only when its answer has arrived.
    if (!isLoading && scroll > 0) scrollTo(0, scroll)
  }, [isLoading])
  useEffect(() => {
    // The link that was followed is gone with its page, so the focus moves to the start of the new page.
    if (page.place.visit > 1)
      document.querySelector<HTMLElement>('#page')?.focus({ preventScroll: true })
  }, [page])
  useEffect(() => {
    // The reader stays at the list that continues, unless the focus has moved while the page was loading.
    if (!isLoading && list !== undefined && document.activeElement?.id === 'page')
      document.querySelector<HTMLElement>(`#paging-${list}`)?.focus({ preventScroll: true })
  }, [isLoading])
  return <>{page.render()}</>
}

/** Focuses the page. A link to `#page` would lead to the home page, because the document has a base URL. */
function focusPage(): void {
  document.querySelector<HTMLElement>('#page')?.focus()
}
