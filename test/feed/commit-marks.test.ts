import { describe, expect, test } from 'vitest'
import { createCommitMarks } from '../../src/feed/commit-marks.ts'

/** Tests which deliveries are measured. */

describe('the delay of a feed', () => {
  function marks() {
    const measured: number[] = []
    const { committed, deliver } = createCommitMarks((ms) => measured.push(ms))
    return { measured, committed, deliver: (upTo: number) => deliver(upTo, async () => {}) }
  }

  test('is measured for each delivery of rows after the first commit', async () => {
    const { measured, committed, deliver } = marks()
    committed(10)
    committed(12)
    await deliver(11)
    await deliver(12)
    expect(measured).toHaveLength(2)
    for (const ms of measured) expect(ms).toBeGreaterThanOrEqual(0)
  })

  test('is not measured for earlier rows, with which a feed catches up', async () => {
    const { measured, committed, deliver } = marks()
    await deliver(9)
    committed(10)
    await deliver(8)
    await deliver(10)
    expect(measured).toEqual([])
  })

  test('is measured if a feed has read a commit before its notification', async () => {
    const { measured, committed, deliver } = marks()
    committed(10)
    await deliver(12)
    committed(12)
    expect(measured).toHaveLength(1)
    await deliver(12)
    expect(measured).toHaveLength(2)
  })
})
