/** Writes tables as comma-separated values (RFC 4180). */

/** The text of a CSV file: one line per row, each terminated by CR LF. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('')
}

/** Quotes a field if necessary, and marks it as text if a spreadsheet would evaluate it. */
function fieldOf(text: string): string {
  const harmless = isFormula(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** Whether a spreadsheet would evaluate a text as a formula. A negative whole number is not a formula, and stays exact. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text) && !/^-\d+$/.test(text)
}

/** File name of a table: page, caption and UTC time, such as `rich-the-richest-addresses-20261122T185500Z.csv`. */
export function fileNameOf(page: string, caption: string, timeMs: number): string {
  const slug = caption
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
  const moment = new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${slug === page ? page : `${page}-${slug}`}-${moment}.csv`
}
