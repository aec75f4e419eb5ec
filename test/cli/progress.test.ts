import { describe, expect, test } from 'vitest'
import { createProgress } from '../../src/cli/progress.ts'

/** The progress bar of long commands, on a manual clock. */

function startProgress(progressColumns: number | undefined) {
  let ms = 0
  let written = ''
  const nowNs = () => BigInt(ms) * 1_000_000n
  const clock = { nowNs, monotonicNs: nowNs }
  const stderr = (text: string) => {
    written += text
  }
  const progress = createProgress({ clock, stderr, progressColumns }, 'import')
  return {
    ...progress,
    /** Returns what the bar writes at a time when `rows` rows are done. */
    at: (nowMs: number, rows: number, ofRows: number | 'UNKNOWN' = 1_000) => {
      ms = nowMs
      written = ''
      progress.show({ rows, ofRows: ofRows === 'UNKNOWN' ? undefined : ofRows })
      return written
    },
    written: () => written,
  }
}

describe('the progress bar on a terminal', () => {
  test('appears after a second with share, count, rate and time left, at most ten times a second', () => {
    const bar = startProgress(120)
    expect(bar.at(999, 100)).toBe('')
    expect(bar.at(1_000, 100)).toBe(
      '\rimport [##..................]  10 %, 100 of 1000 rows, 100 per second, 9 s left\u001b[K',
    )
    expect(bar.at(1_050, 300)).toBe('')
    expect(bar.at(2_000, 500)).toContain(' 50 %, 500 of 1000 rows, 250 per second, 2 s left')
    expect(bar.at(600_000, 501)).toContain(', 10 min left')
  })

  test('shows only the count and the rate if the total is unknown', () => {
    const text = '\rimport 500 rows, 250 per second\u001b[K'
    expect(startProgress(120).at(2_000, 500, 'UNKNOWN')).toBe(text)
  })

  test('is never wider than the terminal', () => {
    expect(startProgress(20).at(1_000, 100)).toBe('\rimport [##.........\u001b[K')
  })

  test('is redrawn below other lines and erased at the end', () => {
    const bar = startProgress(20)
    const line = bar.at(1_000, 100)
    bar.above(() => {})
    expect(bar.written()).toBe(`${line}\r\u001b[K${line}`)
    expect(bar.end()).toBe(1_000)
    expect(bar.written()).toBe(`${line}\r\u001b[K${line}\r\u001b[K`)
  })

  test('writes nothing if it never appeared', () => {
    const bar = startProgress(80)
    bar.at(500, 10)
    bar.end()
    expect(bar.written()).toBe('')
  })
})

test('without a terminal the progress bar writes nothing', () => {
  expect(startProgress(undefined).at(5_000, 100)).toBe('')
})
