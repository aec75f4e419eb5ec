import { afterAll, beforeEach, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { ok } from '../../src/lib/result.ts'
import { openSignatureChecker, type SignatureChecker } from '../../src/node/signatures.ts'
import { Block } from '../../src/protocol/block.ts'
import type { Services } from '../../src/service/services.ts'
import { simulateTransaction } from '../../src/service/submit/simulate-transaction.ts'
import { submitBlock } from '../../src/service/submit/submit-block.ts'
import { inspect } from '../../src/tools/inspect.ts'
import { inspectBlock } from '../../src/tools/inspect-block.ts'
import { verify } from '../../src/tools/verify.ts'
import { parsed } from '../support/parsed.ts'
import { type SemanticVector, semanticLine } from '../support/semantic-questions.ts'
import { vectorNetworks } from '../support/vector-networks.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

/** JSON that respects every count limit of the protocol but exceeds the size limit of a block ten times. */

const real = openSignatureChecker({ queueLimit: 2_000 })
afterAll(() => real.close())

let checkedSignatures = 0
const checker: Pick<SignatureChecker, 'check'> = {
  check: (items) => {
    checkedSignatures += items.length
    return real.check(items)
  },
}
beforeEach(() => {
  checkedSignatures = 0
})

/** The maximum number of unlocks, each with the maximum number of signatures: 1,280. */
function unlocks() {
  const signature = {
    type: 0,
    publicKey: `0x${'01'.repeat(32)}`,
    signature: `0x${'02'.repeat(64)}`,
  }
  const inner = Array(10).fill({ type: 0, signature })
  return Array(128).fill({ type: 5, unlocks: inner })
}

interface BlockVector extends Vector {
  readonly params: string
  readonly json: { readonly header: object; readonly body: { readonly payload: object } }
}

const vector = present(
  loadVectors<BlockVector>('transactions').find(({ params }) => params === 'standard'),
  'a block with a transaction',
)
const network = present(vectorNetworks.get('standard'), 'the network of the vectors')
const { body } = vector.json
const payload = { ...body.payload, unlocks: unlocks() }
const block = { ...vector.json, body: { ...body, payload } }
const tooLong = { ok: false, error: { code: 'BLOCK_SIZE', path: '' } }

test('an oversize block is rejected by inspection before any signature is checked', async () => {
  expect(JSON.stringify(block).length).toBeGreaterThan(300_000)
  const given = { form: 'json', json: block } as const
  expect(await inspectBlock({ checker, network }, given)).toEqual(tooLong)
  expect(await inspect({ checker, network }, { kind: 'block', json: block })).toMatchObject(tooLong)
  expect(checkedSignatures).toBe(0)
})

test('an oversize transaction is rejected by inspection before any signature is checked', async () => {
  const input = { kind: 'signed-transaction-payload', json: payload }
  expect(await inspect({ checker, network }, input)).toEqual(tooLong)
  expect(checkedSignatures).toBe(0)
})

test('an oversize transaction is rejected by verify before any signature is checked', async () => {
  const question = present(loadVectors<SemanticVector>('semantic-tx')[0], 'a question')
  const line = { ...JSON.parse(semanticLine('tx', question)), unlocks: unlocks() }
  expect(await verify({ checker }, line)).toEqual(tooLong)
  expect(checkedSignatures).toBe(0)
})

test('an oversize transaction is rejected by simulation before any signature is checked', async () => {
  // The simulation uses no other members before the rejection.
  const deps = {
    store: { read: { transaction: async () => undefined } },
    source: {
      network,
      status: () => ({ latestCommitmentId: `0x${'00'.repeat(36)}`, latestCommittedSlot: 0 }),
    },
    signatures: checker,
    clock: systemClock,
  } as unknown as Pick<Services, 'store' | 'source' | 'signatures' | 'clock' | 'space'>
  expect(await simulateTransaction(deps, { form: 'json', json: payload })).toMatchObject({
    ok: true,
    value: { outcome: 'REFUSED', refusal: { code: 'BLOCK_SIZE', path: '' } },
  })
  expect(checkedSignatures).toBe(0)
})

test.each(['json', 'payload'] as const)(
  'an oversize block is rejected by submission as %s',
  async (form) => {
    const issue = async () => ok(parsed(Block, block))
    const source = { network, unavailable: () => undefined, issue, node: undefined }
    const space = { low: () => undefined }
    const deps = { source, space, signatures: checker, clock: systemClock } as unknown as Pick<
      Services,
      'store' | 'source' | 'signatures' | 'clock' | 'space'
    >
    const json = form === 'json' ? block : payload
    const error = { code: 'BLOCK_MALFORMED', refusal: { code: 'BLOCK_SIZE', path: '' } }
    expect(await submitBlock(deps, { form, json })).toEqual({ ok: false, error })
    expect(checkedSignatures).toBe(0)
  },
)
