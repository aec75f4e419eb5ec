import type { ProcessIo } from './command.ts'

/** How far long commands are, on a terminal; elsewhere nothing. */

/** The last line of a terminal, which is written again and again; where there is none, nothing. */
export interface StatusLine {
  /** Puts another text in its place; an empty one removes it. */
  draw(text: string): void
  /** Prints above it. */
  above(print: () => void): void
}

/** Begins it, on standard error. */
export function createStatusLine({
  stderr,
  progressColumns: columns,
}: Pick<ProcessIo, 'stderr' | 'progressColumns'>): StatusLine {
  let line = ''

  function draw(text: string): void {
    if (columns === undefined) return
    // A line as wide as the terminal would wrap.
    if (text !== '') stderr(`\r${text.slice(0, columns - 1)}\u001b[K`)
    else if (line !== '') stderr('\r\u001b[K')
    line = text
  }

  return {
    draw,
    above: (print) => {
      const under = line
      draw('')
      print()
      if (under !== '') draw(under)
    },
  }
}

/** How far it is. */
export interface Done {
  readonly rows: number
  /** Of how many; `undefined` where that is not known. */
  readonly ofRows: number | undefined
}

/** A bar on a terminal that shows how far a long command is. */
export interface Progress {
  /** Shows it, once the command takes longer than a second. */
  show(progress: Done): void
  /** Prints above the bar. */
  above(print: () => void): void
  /** Removes the bar, and gives how many milliseconds it took. */
  end(): number
}

/** Begins it; `unit` is what is counted. */
export function createProgress(
  {
    clock,
    stderr,
    progressColumns: columns,
  }: Pick<ProcessIo, 'clock' | 'stderr' | 'progressColumns'>,
  name: string,
  unit = 'rows',
): Progress {
  const begunNs = clock.nowNs()
  let drawnMs = firstMs - pauseMs
  const line = createStatusLine({ stderr, progressColumns: columns })
  const elapsedMs = () => Math.max(Number((clock.nowNs() - begunNs) / 1_000_000n), 1)

  return {
    show: (progress) => {
      const nowMs = elapsedMs()
      if (nowMs - drawnMs < pauseMs) return
      drawnMs = nowMs
      line.draw(`${name} ${progressLine(progress, nowMs, unit)}`)
    },
    above: line.above,
    end: () => {
      line.draw('')
      return elapsedMs()
    },
  }
}

/** When the bar comes, and how often it changes. */
const [firstMs, pauseMs] = [1_000, 100]

/** The bar with its numbers: share, count, rate and time left. */
function progressLine({ rows, ofRows }: Done, elapsedMs: number, unit: string): string {
  const rate = Math.round((1_000 * rows) / elapsedMs)
  if (ofRows === undefined) return `${rows} ${unit}, ${rate} a second`
  const share = Math.min(rows / Math.max(ofRows, 1), 1)
  const bar = '#'.repeat(Math.floor(share * barWidth)).padEnd(barWidth, '.')
  const left = rows === 0 ? '' : `, ${duration((elapsedMs * (1 - share)) / share)} left`
  const percent = `${Math.floor(100 * share)} %`.padStart(5)
  return `[${bar}] ${percent}, ${rows} of ${ofRows} ${unit}, ${rate} a second${left}`
}

const barWidth = 20

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}

/** What a command has done, for people. */
export function summary(rows: number, ms: number, unit = 'rows'): string {
  return `${rows} ${unit}, ${Math.round((1_000 * rows) / ms)} a second`
}
