import { readFileSync } from 'node:fs'

/** Measures work against other work, fairly on a busy machine: in turns, and by medians. */

/** Two pieces of work, in microseconds, and how many times as long the second takes. */
export interface Comparison {
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

/** Compares by the medians of the rounds; each round does both, `times` in a row. */
export function compare(
  ours: () => unknown,
  theirs: () => unknown,
  { rounds, times }: { readonly rounds: number; readonly times: number },
): Comparison {
  // The first round warms up.
  const measured = Array.from({ length: rounds + 1 }, () => {
    const first = microseconds(ours, times)
    const second = microseconds(theirs, times)
    return { ours: first, theirs: second, ratio: second / first }
  }).slice(1)
  return {
    ours: median(measured.map((round) => round.ours)),
    theirs: median(measured.map((round) => round.theirs)),
    ratio: median(measured.map((round) => round.ratio)),
  }
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/**
 * How long this thread, and other processes of this machine that work for it, have waited for a core, in milliseconds since
 * they began: on a machine that is busy with other work the difference of two says what that took. 0 where the system does
 * not tell.
 */
export function waitedMs(others: readonly number[] = []): number {
  const threads = [`/proc/self/task/${process.pid}`, ...others.map((pid) => `/proc/${pid}`)]
  return threads.reduce((sum, path) => sum + waitOf(`${path}/schedstat`), 0)
}

function waitOf(path: string): number {
  try {
    const [, waitedNs] = readFileSync(path, 'utf8').split(' ')
    return Number(waitedNs) / 1e6
  } catch {
    // Only Linux tells.
    return 0
  }
}

/** Prints rows in columns; the first row is the head. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  for (const [index, row] of rows.entries()) {
    printRow(row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)))
    if (index === 0) printRow(row.map((_, column) => '-'.repeat(widths?.[column] ?? 0)))
  }
}

/** Prints one row of a table whose other rows are not known yet. */
export function printRow(row: readonly string[]): void {
  console.log(`| ${row.join(' | ')} |`)
}

/** The time of one run among `times`. */
function microseconds(work: () => unknown, times: number): number {
  const start = performance.now()
  for (let i = 0; i < times; i++) work()
  return ((performance.now() - start) * 1000) / times
}
