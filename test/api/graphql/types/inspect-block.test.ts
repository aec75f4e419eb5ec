import { afterAll, describe, expect, test } from 'vitest'
import type { Hex } from '../../../../src/lib/hex.ts'
import { openSignatureChecker } from '../../../../src/node/signatures.ts'
import type { Services } from '../../../../src/service/services.ts'
import { askSchema } from '../../../support/graphql.ts'
import { vectorNetworks } from '../../../support/vector-networks.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

/** The query returns what `inspect` returns, and that is correct if the vectors are. */

interface BlockVector extends Vector {
  readonly params: string
  readonly json: unknown
  readonly bytes: Hex
  readonly size: number
  readonly ids: { readonly [id: string]: unknown }
  readonly workScore: number
  readonly signatureValid: boolean
  readonly transaction?: { readonly [id: string]: unknown }
  readonly createdChainIds?: { readonly [index: string]: string }
  readonly expect: { readonly rule: string }
}

const signatures = openSignatureChecker({ queueLimit: 64 })
afterAll(() => signatures.close())

const query = `query ($input: InspectBlockInput!) { inspectBlock(input: $input) {
  ... on BlockInspection {
    isWellFormed size bytes headerHash bodyHash signingInput slot blockId workScore isSignatureValid
    problems { code path offset isOfNodeAlone isOfSdkAlone }
    transaction {
      transactionCommitment outputCommitment transactionId signingHash outputIds
      createdChains { outputIndex chainId }
    }
  }
  ... on BrokenRule { code path offset message isOfNodeAlone isOfSdkAlone }
} }`

describe('a block that can be read', () => {
  const vectors = ['blocks', 'transactions'].flatMap((file) => loadVectors<BlockVector>(file))

  test.each(vectors.filter((_, i) => i % 3 === 0))('$name', async (vector) => {
    const { json, bytes, size, ids, workScore, signatureValid, transaction } = vector
    const chains = Object.entries(vector.createdChainIds ?? {})
    const createdChains = chains.map(([index, chainId]) => ({
      outputIndex: Number(index),
      chainId,
    }))
    for (const input of [{ json }, { bytes }]) {
      const { data } = await ask(vector.params, input)
      expect(data.inspectBlock).toEqual({
        isWellFormed: true,
        problems: expect.any(Array),
        ...{ ...ids, size, bytes, workScore },
        isSignatureValid: signatureValid,
        transaction: transaction === undefined ? null : { ...transaction, createdChains },
      })
    }
  })
})

describe('a block that breaks a rule', () => {
  const rules = loadVectors<BlockVector>('rules')

  test('of the whole block is returned with all its problems', async () => {
    const vector = rules.find(({ expect: { rule } }) => rule === 'block.tx-creation-slot')
    const { data } = await ask('standard', { bytes: vector?.bytes })
    const { isWellFormed, problems } = data.inspectBlock
    expect(isWellFormed).toBe(false)
    const path = 'body.payload.transaction.creationSlot'
    const code = 'BLOCK_TX_CREATION_SLOT'
    expect(problems).toContainEqual({
      code,
      path,
      offset: expect.any(Number),
      isOfNodeAlone: false,
      isOfSdkAlone: false,
    })
  })

  test('of the official SDK alone is returned as such', async () => {
    const vector = rules.find(({ expect: { rule } }) => rule === 'tx.capabilities.unknown-bit')
    const { data } = await ask('standard', { bytes: vector?.bytes })
    const { isWellFormed, problems } = data.inspectBlock
    expect(isWellFormed).toBe(false)
    const code = 'TX_CAPABILITIES_UNKNOWN_BIT'
    expect(problems).toMatchObject([{ code, isOfNodeAlone: false, isOfSdkAlone: true }])
  })

  test('of one of its parts is returned with that rule', async () => {
    const vector = rules.find(({ expect: { rule } }) => rule === 'parents.order')
    const { data } = await ask('standard', { bytes: vector?.bytes })
    expect(data.inspectBlock).toEqual({
      code: 'PARENTS_ORDER',
      path: expect.stringMatching(/^body\.strongParents\.\d$/),
      offset: expect.any(Number),
      message: expect.stringMatching(/ must be sorted by bytes, without duplicates \(byte \d+\)$/),
      isOfNodeAlone: false,
      isOfSdkAlone: false,
    })
  })

  test('as JSON has no offset', async () => {
    const { data } = await ask('standard', { json: { header: {} } })
    expect(data.inspectBlock).toEqual({
      code: 'JSON_MISSING',
      path: 'header.protocolVersion',
      offset: null,
      message: 'header.protocolVersion is missing',
      isOfNodeAlone: false,
      isOfSdkAlone: false,
    })
  })
})

test.each([{}, { json: {}, bytes: '0x' }])(
  'an input needs exactly one form, not %j',
  async (input) => {
    const { errors } = await ask('standard', input)
    expect(errors?.[0]?.message).toMatch(/exactly one key must be specified/i)
  },
)

function ask(params: string, input: object) {
  const source = { network: vectorNetworks.get(params) } as Services['source']
  return askSchema({ source, signatures }, query, { input })
}
