import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { encode, print } from '../../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../../src/protocol/transaction.ts'
import { graphql } from '../../support/client.ts'
import { inputOf } from '../../support/protocol-input.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
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
} from '../../support/wallet.ts'

let gateway: TestGateway
let spend: OutputId

beforeAll(async () => {
  gateway = await startGateway()
  await offerOf(gateway.url)
  spend = present((await genesisOutputs(gateway.url, user(1)))[0], 'a funded output')
})
afterAll(() => gateway.close())

/** A transfer of all that the output holds, but for what a test changes. */
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
  test('tells that it holds, with every rule and its mana, and keeps nothing', async () => {
    const made = await payment()
    const told = await verify(made)
    expect(told).toMatchObject({
      transactionId: made.transactionId,
      outcome: 'ACCEPTED',
      refusal: null,
      failure: null,
      mana: { rewards: '0', outputs: '0' },
    })
    expect(told.passedRules).toHaveLength(11)
    expect(BigInt(told.mana.inputs)).toBeGreaterThan(0n)
    expect(told.mana.byInput).toEqual([told.mana.inputs])
    const { data } = await graphql(
      gateway.url,
      `{ transaction(id: "${made.transactionId}") { state } output(id: "${spend}") { isSpent } }`,
    )
    expect(data).toEqual({ transaction: null, output: { isSpent: false } })
  })

  test('takes bytes and typed members alike', async () => {
    const { payload, transactionId } = await payment()
    const bytes = bytesToHex(encode(SignedTransaction, payload))
    const typed = inputOf(SignedTransaction, print(SignedTransaction, payload))
    for (const input of [{ bytes }, { transaction: typed }]) {
      const { data, errors } = await ask(input)
      expect(errors).toBeUndefined()
      expect(data.verifyTransaction).toMatchObject({ transactionId, outcome: 'ACCEPTED' })
    }
  })

  test('tells the first broken rule, by number, name, sentence and place', async () => {
    const poor = await verify(await payment({ outputs: [ownedBy(user(2), 999_999_999n)] }))
    expect(poor).toMatchObject({
      outcome: 'FAILED',
      failure: {
        code: 14,
        name: 'InputOutputBaseTokenMismatch',
        sentence: 'inputs and outputs hold different amounts of base tokens',
        detail: { inputs: '1000000000', outputs: '999999999' },
      },
    })
    expect(poor.passedRules).toEqual([
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
    const nowhere = `${spend.slice(0, -4)}7f00` as OutputId
    const orphan = await verify(await payment({ spend: nowhere }))
    expect(orphan).toMatchObject({
      outcome: 'FAILED',
      failure: { code: 2, detail: { input: 0, outputId: nowhere } },
    })
  })

  test('does not refuse what only the official SDK does: an allotment of 0', async () => {
    const { payload } = await payment()
    const allotments = [{ accountId: issuer.accountId, mana: 0n }]
    const transaction = { ...payload.transaction, allotments }
    const changed = await verify({ payload: { ...payload, transaction } })
    // Its signature is over another transaction.
    expect(changed).toMatchObject({ outcome: 'FAILED', refusal: null, failure: { code: 5 } })
  })

  test('tells that no block may carry it yet, and why', async () => {
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
    // A failure of the carrier is judged again with each one.
    [
      'forged',
      { key: user(3), outputs: [ownedBy(user(2), 1_000_000_000n)] },
      5,
      0,
      'FAILED',
      { brokenRule: 'inputsUnlocked', failure: { detail: { input: 0 } } },
    ],
  ])(
    'shows how far the rules held for one that failed: %s',
    async (_name, changes, code, held, again, broken) => {
      const made = await payment(changes)
      const offer = await offerOf(gateway.url)
      await acceptedId(await post(gateway.url, blockOf(offer, made.payload).bytes))
      const transaction = await until(async () => {
        const { data, errors } = await graphql(
          gateway.url,
          `{ transaction(id: "${made.transactionId}") { state failure { code } bytes
          examination { passedRules brokenRule failure { detail } mana { inputs outputs } } } }`,
        )
        expect(errors).toBeUndefined()
        return data.transaction.state === 'FAILED' && data.transaction
      })
      const rules = ['inputsUnlocked', 'manaSummed', 'timelocksPassed', 'sendersUnlocked']
      expect(transaction).toMatchObject({
        failure: { code },
        bytes: bytesToHex(encode(SignedTransaction, made.payload)),
        examination: { passedRules: rules.slice(0, held), ...broken },
      })
      expect(transaction.examination.mana === null).toBe(held === 0)
      const { data } = await ask({ bytes: transaction.bytes })
      expect(data.verifyTransaction.outcome).toBe(again)
    },
  )

  test('knows what was submitted, and that nothing can be spent twice', async () => {
    const first = await payment()
    const offer = await offerOf(gateway.url)
    await acceptedId(await post(gateway.url, blockOf(offer, first.payload).bytes))
    expect(await verify(first)).toMatchObject({ outcome: 'KNOWN', passedRules: [] })
    const rival = await payment({ outputs: [ownedBy(user(3), 1_000_000_000n)] })
    // Until the first one is booked the second would be as good.
    const told = await until(async () => {
      const verdict = await verify(rival)
      return verdict.outcome !== 'ACCEPTED' && verdict
    })
    expect(told).toMatchObject({ outcome: 'FAILED' })
    expect(['ConflictRejected', 'InputAlreadySpent']).toContain(told.failure.name)
  })

  test('refuses what is no transaction, with the place', async () => {
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
