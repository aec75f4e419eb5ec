import type { MoveProgress } from '../store/move/export.ts'
import type { ProcessIo } from './command.ts'

/** Prints on standard error how far a long command is, at most once a second; `unit` is what it counts. */
export function createProgress(process: ProcessIo, name: string, unit = 'rows') {
  const begunNs = process.clock.nowNs()
  let saidNs = begunNs

  function tell({ rows, ofRows }: MoveProgress): void {
    const nowNs = process.clock.nowNs()
    if (nowNs - saidNs < secondNs) return
    saidNs = nowNs
    const percent = Math.floor((100 * rows) / Math.max(ofRows, 1))
    const left = rows === 0 ? '' : `, ${timeLeft(rows, ofRows)} left`
    process.stderr(
      `${name}: ${rows} of ${ofRows} ${unit} (${percent} %), ${rate(rows)} a second${left}\n`,
    )
  }

  function finish({ rows }: MoveProgress): void {
    process.stderr(`${name}: ${rows} ${unit}, ${rate(rows)} a second\n`)
  }

  function elapsedMs(): number {
    return Math.max(Number((process.clock.nowNs() - begunNs) / 1_000_000n), 1)
  }

  function rate(rows: number): number {
    return Math.round((1_000 * rows) / elapsedMs())
  }

  function timeLeft(rows: number, ofRows: number): string {
    const seconds = Math.ceil((elapsedMs() * Math.max(ofRows - rows, 0)) / rows / 1_000)
    return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
  }

  return { tell, finish }
}

const secondNs = 1_000_000_000n
