import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type SearchPageData, document as searchDocument } from '../../generated/explorer/search.ts'
import { ask } from '../graphql.ts'
import { hitOf } from '../parts/hits.tsx'
import { linkTo, navigate, place } from '../router.ts'
import { texts } from '../texts.ts'

/** The search in the header, which suggests while the reader types; enter opens the first. */

type Result = SearchPageData['search']

/** Typing is a pause shorter than this. */
const typingMs = 120
const mostSuggested = 8

export function SearchBox() {
  const result = useSignal<Result | undefined>(undefined)
  const active = useSignal(-1)
  const isOpen = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  const asking = useRef(new AbortController())
  const visit = place.value?.visit

  // What was searched for is done with on the next page.
  useEffect(() => {
    isOpen.value = false
    if (input.current !== null && place.peek()?.name !== 'search') input.current.value = ''
  }, [visit])

  async function suggest(text: string): Promise<void> {
    asking.current.abort()
    const controller = new AbortController()
    asking.current = controller
    active.value = -1
    if (text.trim() === '') {
      isOpen.value = false
      return
    }
    try {
      await pause(typingMs, controller.signal)
      const answer = await ask(searchDocument, { text }, controller.signal)
      if (!answer.ok) return
      result.value = answer.data.search
      isOpen.value = true
    } catch {
      // More was typed.
    }
  }

  async function open(text: string): Promise<void> {
    asking.current.abort()
    const chosen = hits[active.value]
    if (chosen !== undefined) return navigate(chosen.address)
    const answer = await ask(searchDocument, { text })
    const only = answer.ok && answer.data.search.hits.length === 1 ? answer.data.search.hits : []
    const [first] = only.map(hitOf)
    navigate(first?.address ?? linkTo('search', {}, { q: text }))
  }

  const hits = (isOpen.value ? (result.value?.hits ?? []) : []).slice(0, mostSuggested).map(hitOf)

  function onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') isOpen.value = false
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || hits.length === 0) return
    event.preventDefault()
    active.value = (active.value + step + hits.length) % hits.length
  }

  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const text = input.current?.value.trim() ?? ''
          if (text !== '') void open(text)
        }}
      >
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
          aria-expanded={hits.length > 0}
          aria-controls="suggestions"
          aria-autocomplete="list"
          aria-activedescendant={active.value >= 0 ? `suggestion-${active.value}` : undefined}
          placeholder={texts.search.placeholder}
          title={texts.search.hint}
          onInput={(event) => void suggest(event.currentTarget.value)}
          onKeyDown={onKey}
          onBlur={() => {
            isOpen.value = false
          }}
        />
        <kbd>/</kbd>
      </form>
      <div
        id="suggestions"
        class="suggestions"
        role="listbox"
        aria-label={texts.search.suggestions}
        hidden={hits.length === 0}
      >
        {hits.map((hit, n) => (
          // The focus stays in the field; a press on an option would take it.
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
      {isOpen.value && hits.length === 0 && (
        <p class="suggestions muted" role="status">
          {result.value?.message ?? texts.search.nothing}
        </p>
      )}
    </search>
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
