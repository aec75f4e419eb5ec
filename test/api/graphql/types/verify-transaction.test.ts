import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../../src/lib/assert.ts'
import { bytesToHex } from '../../../../src/lib/hex.ts'
import type { OutputId } from '../../../../src/protocol/primitives.ts'
import { encode, print } from '../../../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../../../src/protocol/transaction.ts'
import { graphql } from '../../../support/client.ts'
import { inputOf } from '../../../support/protocol-input.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { acceptedId, post } from '../../../support/submit.ts'
import { until } from '../../../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  issuer,
  offerOf,
  ownedBy,
  type Payment,
  paymentOf,
  slotNow,
  user,
} from '../../../support/wallet.ts'

let gateway: TestGateway
let spend: OutputId

beforeAll(async () => {
  gateway = await startGateway()
  await offerOf(gateway.url)
  spend = present((await genesisOutputs(gateway.url, user(1)))[0], 'a funded output')
})
afterAll(() => gateway.close())

/** Creates a transfer of all that the output holds, except for the given changes. */
async function payment(changes: Partial<Payment> = {}) {
  const { network } = await offerOf(gateway.url)
  const outputs = [ownedBy(user(2), 400_000_000n), ownedBy(user(1), 600_000_000n)]
  const creationSlot = slotNow(network)
  return paymentOf(network, { spend, key: user(1), outputs, creationSlot, ...changes })
}

async function ask(input: object) {
  const query = `query ($input: VerifyTransactionInput!) { verifyTransaction(input: $input) {
    transactionId outcome refusal { rule path message } failure { code name sentence detail }
    passedRules mana { inputs byInput rewards outputs } } }`
  return graphql(gateway.url, query, { input })
}

async function verify({ payload }: { readonly payload: SignedTransaction }) {
  const { data, errors } = await ask({ json: print(SignedTransaction, payload) })
  expect(errors).toBeUndefined()
  return data.verifyTransaction
}

describe('verifying a transaction', () => {
  test('reports that it is valid, with every rule and its mana, and stores nothing', async () => {
    const transfer = await payment()
    const result = await verify(transfer)
    expect(result).toMatchObject({
      transactionId: transfer.transactionId,
      outcome: 'ACCEPTED',
      refusal: null,
      failure: null,
      mana: { rewards: '0', outputs: '0' },
    })
    expect(result.passedRules).toHaveLength(11)
    expect(BigInt(result.mana.inputs)).toBeGreaterThan(0n)
    expect(result.mana.byInput).toEqual([result.mana.inputs])
    const { data } = await graphql(
      gateway.url,
      `{ transaction(id: "${transfer.transactionId}") { state } output(id: "${spend}") { isSpent } }`,
    )
    expect(data).toEqual({ transaction: null, output: { isSpent: false } })
  })

  test('accepts bytes and typed members alike', async () => {
    const { payload, transactionId } = await payment()
    const bytes = bytesToHex(encode(SignedTransaction, payload))
    const typed = inputOf(SignedTransaction, print(SignedTransaction, payload))
    for (const input of [{ bytes }, { transaction: typed }]) {
      const { data, errors } = await ask(input)
      expect(errors).toBeUndefined()
      expect(data.verifyTransaction).toMatchObject({ transactionId, outcome: 'ACCEPTED' })
    }
  })

  test('reports the first broken rule, by number, name, sentence and place', async () => {
    const unbalanced = await verify(await payment({ outputs: [ownedBy(user(2), 999_999_999n)] }))
    expect(unbalanced).toMatchObject({
      outcome: 'FAILED',
      failure: {
        code: 14,
        name: 'InputOutputBaseTokenMismatch',
        sentence: 'inputs and outputs hold different amounts of base tokens',
        detail: { inputs: '1000000000', outputs: '999999999' },
      },
    })
    expect(unbalanced.passedRules).toEqual([
      'inputsUnlocked',
      'manaSummed',
      'timelocksPassed',
      'sendersUnlocked',
    ])
    const forged = await verify(await payment({ key: user(3) }))
    expect(forged).toMatchObject({
      outcome: 'FAILED',
      failure: { code: 5, name: 'UnlockSignatureInvalid', detail: { input: 0 } },
      passedRules: [],
      mana: null,
    })
    const unknownOutput = `${spend.slice(0, -4)}7f00` as OutputId
    const orphan = await verify(await payment({ spend: unknownOutput }))
    expect(orphan).toMatchObject({
      outcome: 'FAILED',
      failure: { code: 2, detail: { input: 0, outputId: unknownOutput } },
    })
  })

  test('does not refuse an allotment of 0, which only the official SDK refuses', async () => {
    const { payload } = await payment()
    const allotments = [{ accountId: issuer.accountId, mana: 0n }]
    const transaction = { ...payload.transaction, allotments }
    const changed = await verify({ payload: { ...payload, transaction } })
    // The signature is over another transaction.
    expect(changed).toMatchObject({ outcome: 'FAILED', refusal: null, failure: { code: 5 } })
  })

  test('reports that no block may contain it yet, and why', async () => {
    const { network } = await offerOf(gateway.url)
    const early = await verify(await payment({ creationSlot: slotNow(network) + 100 }))
    expect(early).toMatchObject({
      outcome: 'REFUSED',
      refusal: { rule: 'BLOCK_TX_CREATION_SLOT', path: 'transaction.creationSlot' },
      failure: null,
      passedRules: [],
    })
  })

  test.each([
    [
      'unbalanced',
      { outputs: [ownedBy(user(2), 999_999_998n)] },
      14,
      4,
      'KNOWN',
      {
        brokenRule: 'baseTokensBalance',
        failure: { detail: { inputs: '1000000000', outputs: '999999998' } },
      },
    ],
    // A failure that depends on the carrying block is checked again with each block.
    [
      'forged',
      { key: user(3), outputs: [ownedBy(user(2), 1_000_000_000n)] },
      5,
      0,
      'FAILED',
      { brokenRule: 'inputsUnlocked', failure: { detail: { input: 0 } } },
    ],
  ])(
    'reports the rules that a failed transaction passed: %s',
    async (_name, changes, code, passed, again, broken) => {
      const transfer = await payment(changes)
      const offer = await offerOf(gateway.url)
      await acceptedId(await post(gateway.url, blockOf(offer, transfer.payload).bytes))
      const transaction = await until(async () => {
        const { data, errors } = await graphql(
          gateway.url,
          `{ transaction(id: "${transfer.transactionId}") { state failure { code } bytes
          examination { passedRules brokenRule failure { detail } mana { inputs outputs } } } }`,
        )
        expect(errors).toBeUndefined()
        return data.transaction.state === 'FAILED' && data.transaction
      })
      const rules = ['inputsUnlocked', 'manaSummed', 'timelocksPassed', 'sendersUnlocked']
      expect(transaction).toMatchObject({
        failure: { code },
        bytes: bytesToHex(encode(SignedTransaction, transfer.payload)),
        examination: { passedRules: rules.slice(0, passed), ...broken },
      })
      expect(transaction.examination.mana === null).toBe(passed === 0)
      const { data } = await ask({ bytes: transaction.bytes })
      expect(data.verifyTransaction.outcome).toBe(again)
    },
  )

  test('reports a submitted transaction as known, and a double spend as failed', async () => {
    const first = await payment()
    const offer = await offerOf(gateway.url)
    await acceptedId(await post(gateway.url, blockOf(offer, first.payload).bytes))
    expect(await verify(first)).toMatchObject({ outcome: 'KNOWN', passedRules: [] })
    const conflicting = await payment({ outputs: [ownedBy(user(3), 1_000_000_000n)] })
    // Until the first transaction is booked, the second one is valid as well.
    const result = await until(async () => {
      const report = await verify(conflicting)
      return report.outcome !== 'ACCEPTED' && report
    })
    expect(result).toMatchObject({ outcome: 'FAILED' })
    expect(['ConflictRejected', 'InputAlreadySpent']).toContain(result.failure.name)
  })

  test('refuses a malformed transaction, with the place', async () => {
    const { payload } = await payment()
    const json = { ...Object(print(SignedTransaction, payload)), unlocks: [{ type: 9 }] }
    const { errors } = await ask({ json })
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({
        code: 'TRANSACTION_MALFORMED',
        rule: 'TYPE_UNLOCK',
        path: 'input.json.unlocks.0',
      }),
    ])
    const bytes = `${bytesToHex(encode(SignedTransaction, payload))}00`
    const trailing = await ask({ bytes })
    expect(trailing.errors?.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ rule: 'BIN_TRAILING', path: 'input.bytes' }),
    ])
  })
})
