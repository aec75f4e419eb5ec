import { afterAll, describe, expect, test } from 'vitest'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { verifyLine } from '../../src/tools/verify.ts'
import {
  rightAnswers,
  type SemanticKind,
  type SemanticVector,
  semanticCounts,
  semanticLine,
} from '../support/semantic-questions.ts'
import { loadVectors } from '../support/vectors.ts'

/** Every semantic vector passes through `verify` as a line, and the test compares the response with the expected one. */

const checker = openSignatureChecker({ queueLimit: 256 })
afterAll(() => checker.close())
const rows = Object.entries(semanticCounts).map(([kind, count]) => ({
  kind: kind as SemanticKind,
  count,
}))

describe('the semantic vectors', () => {
  test.each(rows)('$kind: all $count', async ({ kind, count }) => {
    const vectors = loadVectors<SemanticVector>(`semantic-${kind}`)
    expect(vectors).toHaveLength(count)
    for (const vector of vectors) {
      const answer: unknown = JSON.parse(await verifyLine({ checker }, semanticLine(kind, vector)))
      const right = rightAnswers(kind, vector).map((one) => ({ ref: vector.name, ...Object(one) }))
      if (right.length === 1) expect(answer).toEqual(right[0])
      else expect(right).toContainEqual(answer)
    }
  })
})

describe('verify rejects', () => {
  const rowsOfErrors = [
    ['no JSON', 'LINE_NOT_JSON', ''],
    ['[]', 'LINE_NOT_JSON', ''],
    ['{"ref":1}', 'KIND_UNKNOWN', 'kind'],
    ['{"kind":"mana"}', 'JSON_MISSING', 'parameters'],
    ['{"kind":"roots","subkind":"bush"}', 'JSON_TYPE', 'subkind'],
    ['{"kind":"roots","subkind":"tree","leaves":["0x0"]}', 'JSON_HEX', 'leaves.0'],
  ] as const
  test.each(['ref', 'kind'])(
    'a line whose %s is nested too deeply for the stack',
    async (member) => {
      const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      const answer = JSON.parse(await verifyLine({ checker }, `{"${member}":${nested}}`))
      expect(answer).toMatchObject({ ref: null, error: { code: 'KIND_UNKNOWN' } })
    },
  )

  test.each(rowsOfErrors)('%s', async (line, code, path) => {
    const { error } = JSON.parse(await verifyLine({ checker }, line))
    expect([error.code, error.path]).toEqual([code, path])
  })

  test.each(rows)(
    'or answers $kind with any member missing or of another type',
    async ({ kind }) => {
      const [vector] = loadVectors<SemanticVector>(`semantic-${kind}`)
      const question = JSON.parse(semanticLine(kind, Object(vector)))
      const members = Object.keys(question).filter((member) => !['ref', 'kind'].includes(member))
      for (const member of members) {
        for (const value of [undefined, null, 7, 'x', [7], { x: 7 }]) {
          const line = JSON.stringify({ ...question, [member]: value })
          const answer = JSON.parse(await verifyLine({ checker }, line))
          expect(Object.keys(answer)).toEqual(['ref', expect.stringMatching(/^(error|result)$/)])
        }
      }
    },
  )

  test('parameters by which the rules cannot divide', async () => {
    const { parameters, ...question } = JSON.parse(
      semanticLine('blocks', Object(loadVectors<SemanticVector>('semantic-blocks')[0])),
    )
    const line = { ...question, parameters: { ...parameters, slotDurationInSeconds: 0 } }
    const { error } = JSON.parse(await verifyLine({ checker }, JSON.stringify(line)))
    expect([error.code, error.path]).toEqual(['PARAMETER_ZERO', 'parameters.slotDurationInSeconds'])
  })

  test('an output that was never created and slots that are not ascending', async () => {
    const vector = Object(loadVectors<SemanticVector>('semantic-accounts')[0])
    const [slot] = vector.slots
    const consumed = [`0x${'11'.repeat(38)}`]
    const rowsOfSlots = [
      [[{ ...slot, consumed }], 'OUTPUT_UNKNOWN', 'slots.0.consumed.0'],
      [[slot, slot], 'SLOTS_NOT_ASCENDING', 'slots.1.slot'],
    ]
    for (const [slots, code, path] of rowsOfSlots) {
      const { error } = JSON.parse(
        await verifyLine({ checker }, semanticLine('accounts', { ...vector, slots })),
      )
      expect([error.code, error.path]).toEqual([code, path])
    }
  })
})
