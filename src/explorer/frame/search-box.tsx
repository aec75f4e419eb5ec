import { useComputed, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { type SearchPageData, document as searchDocument } from '../../generated/explorer/search.ts'
import { ungrouped } from '../format.ts'
import { sendDocument } from '../graphql.ts'
import { hitOf } from '../parts/hits.tsx'
import { linkTo, navigate, place } from '../router.ts'
import { texts } from '../texts.ts'
import { areKeysOn } from './keyboard.tsx'

/** The search box of the header, with suggestions while the user types. Enter opens the first result. */

type Result = SearchPageData['search']

/** Milliseconds without a key press after which suggestions are requested. */
const typingMs = 120
const maxSuggestions = 8

export function SearchBox() {
  const search = useSearch()
  const input = useRef<HTMLInputElement>(null)
  const visit = place.value?.visit

  // The text of the last search is cleared when another page opens. A search without an answer by then must not open a page later, nor
  // show suggestions, so this does not wait until the page is painted.
  useLayoutEffect(() => {
    search.cancel()
    if (input.current !== null && place.peek()?.name !== 'search') input.current.value = ''
  }, [visit])

  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const text = ungrouped(input.current?.value ?? '').trim()
          if (text !== '') void search.open(text)
        }}
      >
        <SearchField input={input} search={search} />
        {areKeysOn.value && <kbd>/</kbd>}
      </form>
      <Suggestions of={search} />
    </search>
  )
}

type Search = ReturnType<typeof useSearch>

/** The state of the search and its actions. */
function useSearch() {
  const result = useSignal<Result | undefined>(undefined)
  const active = useSignal(-1)
  const isOpen = useSignal(false)
  const suggesting = useRef(new AbortController())
  const opening = useRef(new AbortController())
  const hits = useComputed(() =>
    (isOpen.value ? (result.value?.hits ?? []) : []).slice(0, maxSuggestions).map(hitOf),
  )

  /** Hides the suggestions, also those that are requested. */
  function hide(): void {
    suggesting.current.abort()
    isOpen.value = false
    active.value = -1
  }

  /** Hides the suggestions, and ends the search whose result would be opened. */
  function cancel(): void {
    hide()
    opening.current.abort()
  }

  async function suggest(text: string): Promise<void> {
    suggesting.current.abort()
    active.value = -1
    if (text.trim() === '') {
      isOpen.value = false
      return
    }
    const { signal } = restart(suggesting)
    try {
      await pause(typingMs, signal)
      const answer = await sendDocument(searchDocument, { text }, signal)
      if (!answer.ok) return
      result.value = answer.data.search
      isOpen.value = true
    } catch {
      // The user continued to type.
    }
  }

  /** Opens the active suggestion, the only result, or the search page. */
  async function open(text: string): Promise<void> {
    suggesting.current.abort()
    const { signal } = restart(opening)
    const chosen = hits.peek()[active.peek()]
    if (chosen !== undefined) return navigate(chosen.address)
    const answer = await sendDocument(searchDocument, { text }, signal).catch(() => undefined)
    if (answer === undefined || signal.aborted) return
    const only = answer.ok && answer.data.search.hits.length === 1 ? answer.data.search.hits : []
    const [first] = only.map(hitOf)
    navigate(first?.address ?? linkTo('search', {}, { q: text }))
  }

  return { result, active, isOpen, hits, suggest, open, hide, cancel }
}

/** Aborts the former request, and returns the controller of the next one. */
function restart(request: RefObject<AbortController>): AbortController {
  request.current?.abort()
  request.current = new AbortController()
  return request.current
}

interface SearchFieldProps {
  readonly input: RefObject<HTMLInputElement | null>
  readonly search: Search
}

function SearchField({ input, search: { active, hits, suggest, hide } }: SearchFieldProps) {
  function onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') hide()
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const count = hits.peek().length
    if (step === 0 || count === 0) return
    event.preventDefault()
    // Before any suggestion is active, the last one is above the first.
    const from = Math.max(active.value, step > 0 ? -1 : 0)
    active.value = (from + step + count) % count
  }

  return (
    <input
      ref={input}
      id="search"
      type="text"
      inputmode="search"
      list={undefined}
      autocomplete="off"
      spellcheck={false}
      role="combobox"
      aria-label={texts.search.label}
      aria-expanded={hits.value.length > 0}
      aria-controls="suggestions"
      aria-autocomplete="list"
      aria-activedescendant={active.value >= 0 ? `suggestion-${active.value}` : undefined}
      placeholder={texts.search.placeholder}
      title={areKeysOn.value ? texts.search.hint : undefined}
      onInput={(event) => void suggest(ungrouped(event.currentTarget.value))}
      onKeyDown={onKey}
      onBlur={hide}
    />
  )
}

function Suggestions({ of: { result, active, isOpen, hits } }: { readonly of: Search }) {
  const isNothing = isOpen.value && hits.value.length === 0
  return (
    <>
      <div
        id="suggestions"
        class="suggestions"
        role="listbox"
        aria-label={texts.search.suggestions}
        hidden={hits.value.length === 0}
      >
        {hits.value.map((hit, n) => (
          // The focus stays in the input: pressing the mouse on an option would move it.
          <a
            key={hit.key}
            id={`suggestion-${n}`}
            role="option"
            tabIndex={-1}
            aria-selected={n === active.value}
            href={hit.address}
            onMouseDown={(event) => event.preventDefault()}
          >
            <span class="muted">{hit.kind}</span> {hit.label}
          </a>
        ))}
      </div>
      {/* It is always there: a new element with this role may not be announced. */}
      <p class={isNothing ? 'suggestions muted' : 'unseen'} role="status">
        {isNothing && (result.value?.message ?? texts.search.nothing)}
      </p>
    </>
  )
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
