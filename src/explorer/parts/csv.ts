/** Tables as files of comma-separated values, as RFC 4180 has them. */

/** The rows as a file: a line for each, also the last ended by CR LF. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('')
}

/** A field in quotes where it has to be, and as text where a spreadsheet would compute it. */
function fieldOf(text: string): string {
  const harmless = isFormula(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** Whether a spreadsheet takes a text for a formula. A whole number below zero is none, and stays exact. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text) && !/^-\d+$/.test(text)
}

/** `rich-the-richest-addresses-20261122T185500Z.csv`: the page, what the table lists, and when, by UTC. */
export function fileNameOf(page: string, caption: string, timeMs: number): string {
  const slug = caption
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
  const moment = new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${slug === page ? page : `${page}-${slug}`}-${moment}.csv`
}
