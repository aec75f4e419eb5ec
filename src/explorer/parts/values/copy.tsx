import { texts } from '../../texts.ts'

/** Copy buttons. One event listener on the document serves every button, so that rows of long lists need none. */

interface CopyProps {
  /** Text to copy; by default the `data-copy` attribute of the enclosing element. */
  readonly text?: string
  readonly isQuiet?: boolean
}

export function Copy({ text, isQuiet }: CopyProps) {
  return (
    <button
      type="button"
      class="copy"
      tabIndex={isQuiet ? -1 : 0}
      aria-label={texts.copy}
      data-copy={text}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path class="copy-sheets" d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />
        <path class="copy-tick" d="M3 8.5l3.5 3.5L13 5" />
      </svg>
    </button>
  )
}

const confirmedMs = 1_500

export function startCopying(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('.copy') : null
    if (button !== null) void copyMarked(button)
  })
}

/** Copies the `data-copy` text of an element or of its closest ancestor that has one, and confirms it at the copy button. */
export async function copyMarked(element: Element): Promise<void> {
  const marked = element.closest<HTMLElement>('[data-copy]')
  const text = marked?.dataset.copy
  if (marked === null || text === undefined || !(await copyText(text))) return
  const button = marked.matches('.copy') ? marked : marked.querySelector('.copy')
  if (button !== null) confirm(button)
}

function confirm(button: Element): void {
  button.classList.add('copied')
  button.ariaLabel = texts.copied
  setTimeout(() => {
    button.classList.remove('copied')
    button.ariaLabel = texts.copy
  }, confirmedMs)
}

/**
 * Copies a text, by the deprecated command where the clipboard API does not exist (insecure origins) or is not allowed; resolves to
 * whether the browser copied it.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {}
  const { activeElement } = document
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  // Selecting the text has moved the focus.
  if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true })
  return isCopied
}
