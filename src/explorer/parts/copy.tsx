import { useSignal } from '@preact/signals'
import { texts } from '../texts.ts'

/** Copies a text. */
export function Copy({ text, isQuiet }: { readonly text: string; readonly isQuiet?: boolean }) {
  const isDone = useSignal(false)
  const copy = async () => {
    await copyText(text)
    isDone.value = true
    setTimeout(() => {
      isDone.value = false
    }, 1_500)
  }
  return (
    <button
      type="button"
      class="copy"
      tabIndex={isQuiet ? -1 : 0}
      aria-label={isDone.value ? texts.copied : texts.copy}
      onClick={copy}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={isDone.value ? 'M3 8.5l3.5 3.5L13 5' : 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'} />
      </svg>
    </button>
  )
}

/** Browsers give the clipboard to pages of secure origins alone; elsewhere the old command does it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text)
    return
  }
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
