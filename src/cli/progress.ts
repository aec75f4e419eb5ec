import type { ProcessIo } from './command.ts'

/** Shows the progress of long commands on a terminal. */

/** The last line of a terminal, which is redrawn. Without a terminal it draws nothing. */
export interface StatusLine {
  /** Replaces the text of the line; an empty text removes the line. */
  draw(text: string): void
  above(print: () => void): void
}

/** Creates a status line on standard error. */
export function createStatusLine({
  stderr,
  progressColumns: columns,
}: Pick<ProcessIo, 'stderr' | 'progressColumns'>): StatusLine {
  let line = ''

  function draw(text: string): void {
    if (columns === undefined) return
    // A line as wide as the terminal wraps.
    if (text !== '') stderr(`\r${text.slice(0, columns - 1)}\u001b[K`)
    else if (line !== '') stderr('\r\u001b[K')
    line = text
  }

  return {
    draw,
    above: (print) => {
      const text = line
      draw('')
      print()
      if (text !== '') draw(text)
    },
  }
}

/** The progress of a command. */
export interface Done {
  readonly rows: number
  /** Total number of rows; `undefined` if it is not known. */
  readonly ofRows: number | undefined
}

/** A progress bar on a terminal. */
export interface Progress {
  /** Updates the bar, which appears once the command takes longer than a second. */
  show(progress: Done): void
  above(print: () => void): void
  /** Removes the bar, and returns the duration of the command in milliseconds. */
  end(): number
}

/** Creates a progress bar; `unit` is the plural noun of the counted items. */
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

/** Milliseconds until the bar appears, and between its updates. */
const [firstMs, pauseMs] = [1_000, 100]

/** Formats the bar with its percentage, count, rate and remaining time. */
function progressLine({ rows, ofRows }: Done, elapsedMs: number, unit: string): string {
  const rate = Math.round((1_000 * rows) / elapsedMs)
  if (ofRows === undefined) return `${rows} ${unit}, ${rate} per second`
  const share = Math.min(rows / Math.max(ofRows, 1), 1)
  const bar = '#'.repeat(Math.floor(share * barWidth)).padEnd(barWidth, '.')
  const left = rows === 0 ? '' : `, ${duration((elapsedMs * (1 - share)) / share)} left`
  const percent = `${Math.floor(100 * share)} %`.padStart(5)
  return `[${bar}] ${percent}, ${rows} of ${ofRows} ${unit}, ${rate} per second${left}`
}

const barWidth = 20

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}

/** Reports each new session that a command waits for, above its progress bar. */
export function createWaitingReport(
  { stderr }: Pick<ProcessIo, 'stderr'>,
  { above }: Progress,
): (reader: string) => void {
  let last = ''
  return (reader) => {
    if (reader === last) return
    last = reader
    above(() => stderr(`waiting for ${reader}, which reads the log\n`))
  }
}

/** Summarises the work of a command: the number of rows and the rate. */
export function summary(rows: number, ms: number): string {
  return `${rows} rows, ${Math.round((1_000 * rows) / ms)} per second`
}
