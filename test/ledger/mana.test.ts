import { describe, expect, test } from 'vitest'
import { decayedMana, generatedMana, potentialMana } from '../../src/ledger/mana.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { minimumAmount } from '../../src/protocol/score.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface ManaVector extends Vector {
  readonly params: string
  readonly value: string
  readonly from: number
  readonly to: number
  readonly output: unknown
  readonly expected: {
    readonly result?: string
    readonly error?: true
    readonly stored?: string
    readonly potential?: string
  }
}

const vectors = loadVectors<ManaVector>('semantic-mana')
const functionByKind = { decay: decayedMana, generate: generatedMana }

describe.each(['decay', 'generate'] as const)('%s', (kind) => {
  test.each(vectors.filter((vector) => vector.kind === kind))('$name', (vector) => {
    const rules = semanticParameters(vector.params)
    const mana = functionByKind[kind](rules, BigInt(vector.value), vector.from, vector.to)
    const { result } = vector.expected
    if (result !== undefined) expect(mana).toEqual({ ok: true, value: BigInt(result) })
    else
      expect(mana).toMatchObject({
        error: { code: 'MANA_DECAY_CREATION_INDEX_EXCEEDS_TARGET_INDEX' },
      })
  })
})

describe('output', () => {
  test.each(vectors.filter((vector) => vector.kind === 'output'))('$name', (vector) => {
    const rules = semanticParameters(vector.params)
    const output = parsed(Output, vector.output)
    const { amount } = output
    const held = 'mana' in output ? output.mana : 0n
    const minimum = minimumAmount(rules.storageScoreParameters, output)
    const { stored, potential } = vector.expected
    expect(decayedMana(rules, held, vector.from, vector.to)).toEqual({
      ok: true,
      value: BigInt(stored ?? ''),
    })
    expect(
      potentialMana(rules, { amount, minimumAmount: minimum }, vector.from, vector.to),
    ).toEqual({
      ok: true,
      value: BigInt(potential ?? ''),
    })
  })
})
