import { ungrouped } from '../../format.ts'
import { gatewayTimeMs } from '../../network.ts'
import { csvOf, fileNameOf } from './csv.ts'

/** Saves a shown table as a CSV file. This module is loaded on first use. */

/** Saves the parts of a table as one file, with whole ids, exact numbers in the smallest unit, and ISO 8601 times. */
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
    // The pause lets the browser handle input between the parts of a long table.
    await new Promise((resolve) => setTimeout(resolve))
  }
  const head = heads.map((text, n) => text + (units[n] === undefined ? '' : ` (${units[n]})`))
  const bytes = new Blob([csvOf([head, ...rows])], { type: 'text/csv;charset=utf-8' })
  const address = URL.createObjectURL(bytes)
  const link = document.createElement('a')
  link.href = address
  link.download = fileNameOf(page, caption, gatewayTimeMs())
  link.click()
  // A browser that asks where to save the file reads it later.
  setTimeout(() => URL.revokeObjectURL(address), revokeDelayMs)
}

const revokeDelayMs = 60_000

/** The unit of the amount in a cell. */
function unitOf(cell: Element): string | undefined {
  return cell.querySelector<HTMLElement>('data[data-unit]')?.dataset.unit
}

/** The exact content of a cell; empty for the dash that marks a missing value. */
function textOf(cell: Element): string {
  const text = ungrouped(exactText(cell)).replaceAll(/\s+/g, ' ').trim()
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
