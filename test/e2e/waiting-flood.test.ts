import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { identifyTransaction, outputId } from '../../src/protocol/ids.ts'
import type { OutputId, TransactionId } from '../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../src/protocol/transaction.ts'
import { graphql } from '../support/client.ts'
import { openedStore } from '../support/databases.ts'
import {
  fundFromFaucet,
  type LedgerWorld,
  type Moment,
  startWorld,
  worldParameters,
} from '../support/ledger-world.ts'
import { restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'
import { issuer, ownedBy, paymentOf, user } from '../support/wallet.ts'

/** Many transactions that wait for their inputs: their cost, their lifetime and their result once the inputs exist. */

const amount = 10_000_000n
const owner = user(2)
const { minCommittableAge } = worldParameters
let world: LedgerWorld
let coins: OutputId[]

beforeAll(async () => {
  world = await startWorld()
  const outputs = Array.from({ length: 8 }, () => ownedBy(owner, amount))
  await fundFromFaucet(world, outputs)
  coins = world.outputs.map(({ outputId: id }) => id)
  await world.pass(minCommittableAge)
})
afterAll(() => world.close())

test('transactions without inputs are paid for, wait while their slot is open, and delay no other transaction', async () => {
  const moment = await world.moment()
  const before = await creditsOf()
  const flood = Array.from({ length: 600 }, (_, n) => orphan(moment, n))
  const blocks = await submitAll(moment, flood)
  const honest = pay(moment, coins.pop())
  await submitAndBook(moment, honest)
  expect(await stateOf(idOf(honest))).toBe('ACCEPTED')
  expect(await stateOf(idOf(present(flood[0], 'one')))).toBe('PENDING')
  expect(await countWaiting()).toBe(600)

  // The issuer pays the whole work score of every block, whatever the result of its transaction.
  await world.pass(minCommittableAge)
  const states = await Promise.all(
    [...flood.slice(0, 20), ...flood.slice(-20)].map(idOf).map(stateOf),
  )
  expect(new Set(states)).toEqual(new Set(['FAILED 2']))
  expect(await stateOf(idOf(honest))).toBe('FINALIZED')
  expect(await countWaiting()).toBe(0)
  const minWork = 600n * BigInt(worldParameters.workScoreParameters.block)
  expect(before - (await creditsOf())).toBeGreaterThan(minWork)
  expect(await storedBlocks(blocks.slice(0, 5))).toEqual(Array(5).fill('finalized'))
}, 240_000)

test('a chain of transactions in reverse order is booked when the first one arrives', async () => {
  const moment = await world.moment()
  const chain: SignedTransaction[] = []
  for (let spend = coins.pop(); chain.length < 60; spend = outputId(idOf(chain.at(-1)), 0)) {
    chain.push(pay(moment, spend))
  }
  for (const payload of chain.toReversed()) await submitAndBook(moment, payload)
  // Waiting transactions are booked before later ones.
  await submitAndBook(moment, pay(moment, coins.pop()))
  expect(new Set(await Promise.all(chain.map(idOf).map(stateOf)))).toEqual(new Set(['ACCEPTED']))
  expect(await countWaiting()).toBe(0)
}, 240_000)

test('of many waiting transactions that spend one output, the earliest is accepted', async () => {
  const moment = await world.moment()
  const parent = pay(moment, coins.pop())
  const spend = outputId(idOf(parent), 0)
  const rivals = Array.from({ length: 520 }, (_, n) => pay(moment, spend, n))
  await submitAll(moment, rivals.slice(0, 1))
  await submitAll(moment, rivals.slice(1))
  await submitAndBook(moment, parent)
  // Waiting transactions are booked before later ones.
  await submitAndBook(moment, pay(moment, coins.pop()))
  expect(await stateOf(idOf(present(rivals[0], 'the first')))).toBe('ACCEPTED')
  const states = await Promise.all(rivals.slice(1).map(idOf).map(stateOf))
  expect(new Set(states)).toEqual(new Set(['FAILED 1']))
  expect(await countWaiting()).toBe(0)
}, 240_000)

/** Returns a payment of the owner to itself, different for each `n`. */
function pay({ offer, slot }: Moment, spend: OutputId | undefined, n = 0): SignedTransaction {
  const split = 5_000_000n + BigInt(n)
  const outputs =
    n === 0 ? [ownedBy(owner, amount)] : [ownedBy(owner, split), ownedBy(owner, amount - split)]
  const payment = { spend: present(spend, 'an output'), key: owner, outputs, creationSlot: slot }
  return paymentOf(offer.network, payment).payload
}

/** Returns a payment whose input never exists. */
function orphan(moment: Moment, n: number): SignedTransaction {
  const digits = n.toString(16).padStart(64, '0')
  return pay(moment, `0x${digits}010000000000` as OutputId)
}

function idOf(payload: SignedTransaction | undefined): TransactionId {
  return identifyTransaction(present(payload, 'a payment').transaction).transactionId
}

/** Submits the transactions, 40 at once. */
async function submitAll(
  moment: Moment,
  payloads: readonly SignedTransaction[],
): Promise<string[]> {
  const blocks: string[] = []
  for (let at = 0; at < payloads.length; at += 40) {
    const some = payloads.slice(at, at + 40)
    blocks.push(...(await Promise.all(some.map((payload) => world.submit(moment, payload)))))
  }
  return blocks
}

async function submitAndBook(moment: Moment, payload: SignedTransaction): Promise<void> {
  const blockId = await world.submit(moment, payload)
  const isBooked = async () => (await storedBlocks([blockId]))[0] !== 'pending'
  await until(isBooked, { what: `${blockId} is booked`, deadlineMs: 55_000 })
}

function storedBlocks(ids: readonly string[]): Promise<string[]> {
  const url = `${world.gateway.url}/api/core/v3/blocks`
  return Promise.all(ids.map(async (id) => (await restJson(`${url}/${id}/metadata`)).blockState))
}

async function stateOf(transactionId: TransactionId): Promise<string> {
  const query = `{ transaction(id: "${transactionId}") { state failure { code } } }`
  const { state, failure } = (await graphql(world.gateway.url, query)).data.transaction
  return failure === null ? state : `${state} ${failure.code}`
}

async function creditsOf(): Promise<bigint> {
  const query = `{ account(id: "${issuer.accountId}") { entry { credits } } }`
  return BigInt((await graphql(world.gateway.url, query)).data.account.entry.credits)
}

/** Counts the waiting blocks in the database. */
async function countWaiting(): Promise<number> {
  const store = await openedStore(world.gateway.databaseUrl)
  try {
    return await store.write.countWaiting()
  } finally {
    await store.close()
  }
}
