import { thinSpace } from '../format.ts'
import { gatewayTimeMs } from '../network.ts'
import { csvOf, fileNameOf } from './csv.ts'

/** Gives a table that is shown to the reader as a file. Loaded when a reader first wants one. */

/** Saves a table, which is given in parts: whole ids, exact numbers in the smallest unit, and times as ISO 8601 has them. */
export async function saveTable(
  parts: Iterable<HTMLTableElement>,
  page: string,
  caption: string,
): Promise<void> {
  const heads: string[] = []
  const units: (string | undefined)[] = []
  const rows: string[][] = []
  for (const { tHead, tBodies } of parts) {
    heads.splice(0, Infinity, ...[...(tHead?.rows[0]?.cells ?? [])].map(textOf))
    for (const { cells } of tBodies[0]?.rows ?? []) {
      rows.push([...cells].map(textOf))
      for (const [n, cell] of [...cells].entries()) units[n] ??= unitOf(cell)
    }
    // Keys and clicks are answered between the parts of a long one.
    await new Promise((resolve) => setTimeout(resolve))
  }
  const head = heads.map((text, n) => text + (units[n] === undefined ? '' : ` (${units[n]})`))
  const bytes = new Blob([csvOf([head, ...rows])], { type: 'text/csv;charset=utf-8' })
  const address = URL.createObjectURL(bytes)
  const link = document.createElement('a')
  link.href = address
  link.download = fileNameOf(page, caption, gatewayTimeMs())
  link.click()
  // A browser that asks where to save it reads it later.
  setTimeout(() => URL.revokeObjectURL(address), keptMs)
}

const keptMs = 60_000

/** The unit of the amount in a cell. */
function unitOf(cell: Element): string | undefined {
  return cell.querySelector<HTMLElement>('data[data-unit]')?.dataset.unit
}

/** What a cell says, exactly; nothing for the dash that stands where there is nothing. */
function textOf(cell: Element): string {
  const text = exactText(cell).replaceAll(thinSpace, '').replaceAll(/\s+/g, ' ').trim()
  return text === '–' ? '' : text
}

function exactText(node: Node): string {
  if (!(node instanceof Element)) return node.textContent ?? ''
  if (node instanceof HTMLDataElement) return node.value
  if (node instanceof HTMLTimeElement) return node.dateTime
  if (node.matches('[aria-hidden="true"], button, svg')) return ''
  if (node instanceof HTMLElement && node.dataset.copy !== undefined) return node.dataset.copy
  const text = [...node.childNodes].map(exactText).join('')
  return node.matches('li, p, div') ? ` ${text} ` : text
}
