import { describe, expect, test } from 'vitest'
import { failureReasonName, failureReasonNumbers } from '../../src/ledger/failure-reasons.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface ReasonVector extends Vector {
  readonly code: number
}

describe('failure reasons', () => {
  const vectors = loadVectors<ReasonVector>('semantic-reasons')
  test.each(vectors)('$code $name', ({ code, name }) => expect(failureReasonName(code)).toBe(name))

  test('are exactly those of the vectors', () => {
    expect(Object.values(failureReasonNumbers).sort((a, b) => a - b)).toEqual(
      vectors.map(({ code }) => code),
    )
    expect(failureReasonName(70)).toBeUndefined()
  })
})
