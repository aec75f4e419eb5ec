import { describe, expect, test } from 'vitest'
import { createAddressHistories } from '../../src/client/address-histories.ts'
import type { FeedHistoryPoint } from '../../src/client/events.ts'

const point = (n: number, digit = '1'): FeedHistoryPoint => ({
  address: `rms1${n}`,
  class: 'OWNED',
  ordinal: '7',
  historyHash: `0x${digit.repeat(64)}`,
})

describe('the histories of a feed', () => {
  test('are kept for the latest 50,000 addresses, and not for the first of 100,000 others', () => {
    const histories = createAddressHistories()
    for (let n = 0; n < 50_000; n++) histories.begin(point(n))
    expect(histories.begin(point(1, '2'))).toMatchObject({ code: 'HISTORY_BROKEN' })
    for (let n = 50_000; n < 150_000; n++) histories.begin(point(n))
    expect(histories.begin(point(149_999, '2'))).toMatchObject({ code: 'HISTORY_BROKEN' })
    expect(histories.begin(point(1, '2'))).toBeUndefined()
    histories.clear()
    expect(histories.begin(point(149_998, '2'))).toBeUndefined()
  })

  test('of a million addresses are recorded in a time that grows with their number', () => {
    const histories = createAddressHistories()
    for (let n = 0; n < 1_000_000; n++) histories.begin(point(n))
    expect(histories.begin(point(999_999, '2'))).toMatchObject({ code: 'HISTORY_BROKEN' })
  })
})
