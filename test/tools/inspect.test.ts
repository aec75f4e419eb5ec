import { afterAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { hexToBytes } from '../../src/lib/hex.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { keypairOf } from '../../src/protocol/keys.ts'
import { inspectLine } from '../../src/tools/inspect.ts'
import type { InspectDeps } from '../../src/tools/inspect-block.ts'
import { edited } from '../support/edited.ts'
import { formVectorCounts, liftedFormCounts } from '../support/vector-forms.ts'
import { checkAnswer, type InspectedVector, linesOf } from '../support/vector-lines.ts'
import { vectorNetworks } from '../support/vector-networks.ts'
import { loadVectors } from '../support/vectors.ts'

/** Every vector of a single value passes through `inspect`, which must return the verdict, both forms and all values. */

const countByFileAndKind = {
  ...formVectorCounts,
  identifiers: {
    'id-from-output-id': 4,
    'foundry-id': 4,
    'public-key-hash': 4,
    'network-id': 10,
    'slot-commitment': 4,
    'merkle-root': 10,
  },
  slots: { slot: 42 },
  proofs: { 'output-id-proof': 9 },
  bech32: { bech32: 37 },
  signatures: { signature: 243 },
  lifted: {
    ...liftedFormCounts,
    'output-id-proof': 4,
    'merkle-root': 1,
    signature: 12,
  },
} as const

const checker = openSignatureChecker({ queueLimit: 256 })
afterAll(() => checker.close())
const network = present(vectorNetworks.get('standard'), 'the standard network')
const deps: InspectDeps = { checker, network }

describe('the vectors', () => {
  const checked = new Map<string, number>()
  afterAll(() => console.table(Object.fromEntries(checked)))
  const rows = Object.entries(countByFileAndKind).flatMap(([file, kinds]) =>
    Object.entries(kinds).map(([kind, count]) => ({ file, kind, count })),
  )

  test.each(rows)('$file: $count of kind $kind', async ({ file, kind, count }) => {
    const vectors = loadVectors<InspectedVector>(file).filter((vector) => vector.kind === kind)
    const complaints: string[] = []
    for (const vector of vectors) {
      for (const line of linesOf(vector)) {
        const answer: unknown = JSON.parse(await inspectLine(deps, JSON.stringify(line.input)))
        complaints.push(...checkAnswer(vector, line, answer))
      }
    }
    expect(complaints).toEqual([])
    expect(vectors.length).toBe(count)
    checked.set(kind, count + (checked.get(kind) ?? 0))
  })

  test.each(Object.entries(countByFileAndKind))('every kind of %s is tested', (file, kinds) => {
    const left = loadVectors<InspectedVector>(file).filter(({ kind }) => !(kind in kinds))
    expect(left).toEqual([])
  })
})

describe('a transaction in the documented numbering', () => {
  const key = keypairOf(new Uint8Array(32).fill(7))

  test('keeps its bytes for signatures and ids', async () => {
    const block = await signedBlock(renumbered(rewardBlock, 1))
    const answer = await ask({ json: block })
    expect(answer).toMatchObject({ ok: true, signatureValid: true, unlockSignaturesValid: [true] })
    expect(answer.json).toEqual(block)
    expect(await ask({ bytes: answer.bytes })).toEqual(answer)
    const released = renumbered(block, -1)
    const other = await ask({ json: released })
    expect(other).toMatchObject({ ok: true, unlockSignaturesValid: [false] })
    expect(other.transaction.transactionId).not.toBe(answer.transaction.transactionId)
  })

  const place = 'body.payload.transaction'

  const vectors = loadVectors<InspectedVector>('transactions')
  const rewardBlock = vectors.find(({ name }) => name === 'block/transaction/reward-input')?.json

  /** Returns the block with `by` added to the codes of its context inputs. */
  function renumbered(block: unknown, by: number): unknown {
    return edited(block, `${place}.contextInputs`, (inputs) =>
      Array.from(Object(inputs), Object).map((input) => ({ ...input, type: input.type + by })),
    )
  }

  /** Signs the block over the hashes that `inspect` computes. */
  async function signedBlock(unsigned: unknown): Promise<unknown> {
    const { transaction } = await ask({ json: unsigned })
    const half = edited(unsigned, 'body.payload.unlocks.0.signature', () =>
      key.sign(hexToBytes(transaction.signingHash)),
    )
    const { ids } = await ask({ json: half })
    return edited(half, 'signature', () => key.sign(hexToBytes(ids.signingInput)))
  }

  async function ask(form: object) {
    const line = JSON.stringify({ ref: 1, kind: 'block', ...form })
    return Object(JSON.parse(await inspectLine(deps, line)))
  }
})
