import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRing } from '../../src/feed/ring.ts'
import type { LedgerUpdate } from '../../src/store/rows.ts'
import { noBranch } from '../../src/store/values.ts'
import { anyFilter, matching, seqsOf } from '../support/feed-log.ts'
import { addresses, outputIdOf } from '../support/log-store.ts'

const anyRow = fc.record({
  address: fc.constantFrom(...addresses),
  class: fc.constantFrom('OWNED', 'MENTIONED'),
})

function rowsOf(parts: readonly Pick<LedgerUpdate, 'address' | 'class'>[]): LedgerUpdate[] {
  return parts.map((part, i) => ({
    ...part,
    seq: i + 1,
    branch: noBranch,
    ordinal: 1,
    roles: ['OWNER'],
    milestoneIndex: 1,
    outputId: outputIdOf('11', 0),
    isSpent: false,
    historyHash: '0x',
  }))
}

describe('ring', () => {
  test('returns the same rows as a plain list, as far back as it reaches', () => {
    const anyQuestion = fc.tuple(anyFilter, fc.nat({ max: 130 }), fc.integer({ min: 1, max: 20 }))
    fc.assert(
      fc.property(
        fc.array(anyRow, { maxLength: 120 }),
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        fc.array(anyQuestion, { minLength: 1, maxLength: 20 }),
        (parts, capacity, pieces, questions) => {
          const rows = rowsOf(parts)
          const ring = createRing(capacity, 0)
          for (let at = 0, i = 0; at < rows.length; i++) {
            const piece = pieces[i % pieces.length] ?? 1
            ring.append(rows.slice(at, at + piece))
            at += piece
          }
          expect(ring.position()).toBe(rows.length)
          expect(ring.position() - ring.floor()).toBeGreaterThanOrEqual(
            Math.min(capacity, rows.length),
          )
          for (const [filter, after, limit] of questions) {
            const found = ring.read(filter, after, limit)
            if (after < ring.floor()) expect(found).toBeUndefined()
            else {
              const behind = matching(rows, filter).filter((row) => row.seq > after)
              expect(seqsOf(found ?? [])).toEqual(seqsOf(behind.slice(0, limit)))
            }
          }
        },
      ),
    )
  })

  test('continues after the position at which it was cleared', () => {
    const ring = createRing(10, 0)
    ring.append(rowsOf([{ address: '0x01', class: 'OWNED' }]))
    ring.clear(7)
    expect([ring.floor(), ring.position()]).toEqual([7, 7])
    expect(ring.read({ classes: ['OWNED'] }, 6, 1)).toBeUndefined()
    expect(ring.read({ classes: ['OWNED'], addresses: ['0x01'] }, 7, 1)).toEqual([])
  })
})
