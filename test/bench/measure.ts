import { readFileSync } from 'node:fs'

/** Compares functions fairly on a busy machine: runs them in alternation and takes medians. */

/** The times of two functions in microseconds, and the ratio of the second to the first. */
export interface Comparison {
  readonly firstUs: number
  readonly secondUs: number
  readonly ratio: number
}

/** Compares two functions by the medians of the rounds; each round calls each function `times` times. */
export function compare(
  first: () => unknown,
  second: () => unknown,
  { rounds, times }: { readonly rounds: number; readonly times: number },
): Comparison {
  // The first round warms up.
  const measured = Array.from({ length: rounds + 1 }, () => {
    const firstUs = microseconds(first, times)
    const secondUs = microseconds(second, times)
    return { firstUs, secondUs, ratio: secondUs / firstUs }
  }).slice(1)
  return {
    firstUs: median(measured.map((round) => round.firstUs)),
    secondUs: median(measured.map((round) => round.secondUs)),
    ratio: median(measured.map((round) => round.ratio)),
  }
}

/** The median of numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/**
 * The time that this thread and other processes have waited for a core since their start, in milliseconds. On a busy machine, the
 * difference of two values is the delay by other work. 0 on systems that do not report it.
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
    // Only Linux reports it.
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

/** Prints one row of a table whose other rows follow later. */
export function printRow(row: readonly string[]): void {
  console.log(`| ${row.join(' | ')} |`)
}

/** The mean time of one call, over `times` calls. */
function microseconds(work: () => unknown, times: number): number {
  const start = performance.now()
  for (let i = 0; i < times; i++) work()
  return ((performance.now() - start) * 1000) / times
}
