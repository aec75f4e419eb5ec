import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { copyMarked } from '../parts/values/copy.tsx'
import type { PageName } from '../paths.ts'
import { linkTo, navigate } from '../router.ts'
import { texts } from '../texts.ts'
import { switchTheme } from './theme.ts'

/** Keyboard shortcuts that work on every page, and the dialog that lists them. */

const isHelpOpen = signal(false)

/** Whether keys without a modifier act. Speech input and unsteady hands press such keys unintentionally (WCAG 2.1.4). */
export const areKeysOn = signal(areKeysChosen())

function areKeysChosen(): boolean {
  try {
    return localStorage.getItem('keys') !== 'off'
  } catch {
    return true
  }
}

function switchKeys(): void {
  areKeysOn.value = !areKeysOn.peek()
  try {
    if (areKeysOn.peek()) localStorage.removeItem('keys')
    else localStorage.setItem('keys', 'off')
  } catch {
    // A browser without local storage forgets the choice when the tab closes.
  }
}

/** The section that each letter opens after `g`. */
const sections: Readonly<Record<string, PageName>> = {
  h: 'home',
  m: 'milestones',
  b: 'blocks',
  t: 'transactions',
  a: 'accounts',
  k: 'tokens',
  n: 'nfts',
  v: 'validators',
  c: 'chains',
  d: 'decode',
}

export function openKeyboardHelp(): void {
  isHelpOpen.value = true
}

export function startKeyboard(): void {
  let isGoing = false
  addEventListener('keydown', (event) => {
    if (!areKeysOn.peek()) return
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    // A page behind the dialog cannot be seen, nor get the focus.
    if (document.querySelector('dialog[open]') !== null) return
    const { key } = event
    const section = isGoing ? sections[key] : undefined
    isGoing = key === 'g'
    if (section !== undefined) return navigate(linkTo(section))
    const action = actions[key]
    if (action === undefined) return
    event.preventDefault()
    action()
  })
}

const actions: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLElement>('#search')?.focus(),
  '?': openKeyboardHelp,
  t: switchTheme,
  j: () => walk(1),
  k: () => walk(-1),
  c: copyFocused,
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select')
  )
}

/** Number of rows that the focus still has to move; positive values move down. */
let stepsAhead = 0

/** Focuses the first link of the next row, or of the previous row. */
function walk(step: number): void {
  const isWalking = stepsAhead !== 0
  stepsAhead += step
  if (!isWalking) walkOn()
}

/** Moves the focus row by row. At rows of a long list that are not drawn yet, it scrolls and continues in the next frame. */
function walkOn(): void {
  while (stepsAhead !== 0) {
    const step = Math.sign(stepsAhead)
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(
      (row) => linkIn(row)?.checkVisibility() === true,
    )
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    const gap = adjacentGap(rows[at], step)
    if (gap !== undefined) {
      gap.scrollIntoView({ block: step > 0 ? 'start' : 'end' })
      requestAnimationFrame(walkOn)
      return
    }
    stepsAhead -= step
    const row = rows[at === -1 ? (step > 0 ? 0 : rows.length - 1) : at + step]
    if (row !== undefined) linkIn(row)?.focus()
  }
}

function linkIn(row: HTMLElement): HTMLElement | null {
  return row.querySelector('a')
}

/** The placeholder of rows that are not drawn, if it is next to a row in the direction of the step. */
function adjacentGap(row: HTMLElement | undefined, step: number): Element | undefined {
  const beside = step > 0 ? row?.nextElementSibling : row?.previousElementSibling
  return beside?.classList.contains('gap') === true ? beside : undefined
}

function copyFocused(): void {
  if (document.activeElement !== null) void copyMarked(document.activeElement)
}

export function KeyboardHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isHelpOpen.value
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  const close = () => {
    isHelpOpen.value = false
  }
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">{texts.keys.title}</h2>
      <dl>
        {texts.keys.rows.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        <label>
          <input type="checkbox" checked={areKeysOn.value} onChange={switchKeys} />{' '}
          {texts.keys.areOn}
        </label>
      </p>
      <button type="button" class="button" onClick={close}>
        {texts.keys.close}
      </button>
    </dialog>
  )
}
