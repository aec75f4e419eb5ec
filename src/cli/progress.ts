import type { MoveProgress } from '../store/move/export.ts'
import type { ProcessIo } from './command.ts'

/** Prints on standard error how far a long command is, at most once a second. */
export function createProgress(process: ProcessIo, name: string) {
  const begunNs = process.clock.nowNs()
  let saidNs = begunNs

  function tell({ rows, ofRows }: MoveProgress): void {
    const nowNs = process.clock.nowNs()
    if (nowNs - saidNs < secondNs) return
    saidNs = nowNs
    const percent = Math.floor((100 * rows) / Math.max(ofRows, 1))
    process.stderr(`${name}: ${rows} of ${ofRows} rows (${percent} %), ${rate(rows)} a second\n`)
  }

  function finish({ rows }: MoveProgress): void {
    process.stderr(`${name}: ${rows} rows, ${rate(rows)} a second\n`)
  }

  function rate(rows: number): number {
    const elapsedMs = Number((process.clock.nowNs() - begunNs) / 1_000_000n)
    return Math.round((1_000 * rows) / Math.max(elapsedMs, 1))
  }

  return { tell, finish }
}

const secondNs = 1_000_000_000n
