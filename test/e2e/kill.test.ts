import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import type { BlockId, OutputId } from '../../src/protocol/primitives.ts'
import { graphql } from '../support/client.ts'
import { type Program, spawnProgram, startProgram } from '../support/program.ts'
import { createRandom } from '../support/random.ts'
import { rest, restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  isFresh,
  type Offer,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  type SignedBlock,
  type SignedPayment,
  slotNow,
  taggedData,
  untilHealth,
  user,
  users,
} from '../support/wallet.ts'

/** Kills under load, and additional kills during the following start. */
const kills = 20
const killsDuringStart = 5
const blocksPerSecond = 200
/**
 * If signing takes longer than the rate allows, each tick would have more overdue blocks than the one before, and the kill would
 * wait for them: after half a minute, blocks name a commitment that is too old for them (HEADER_COMMITMENT_TOO_OLD).
 */
const blocksPerTick = 10
/** One of this number of blocks carries a transaction. */
const blocksPerPayment = 4

const random = createRandom(2_026)
let folder: UsualFolder
let gateway: Program

beforeAll(async () => {
  folder = await makeUsualFolder()
  gateway = await startServing()
})
afterAll(async () => {
  await gateway.end('SIGTERM')
  await folder.remove()
})

test('acknowledged blocks survive every kill -9 and are booked once', async () => {
  const purse = await fillPurse(gateway.url)
  const acknowledged = new Map<BlockId, Sent>()
  const keep = (sent: readonly Sent[]) => {
    for (const each of sent) acknowledged.set(each.blockId, each)
  }
  for (let round = 0; round < kills; round++) {
    const load = await startLoad(gateway.url, purse)
    await delay(random.between(50, 1_500))
    await gateway.end('SIGKILL')
    const answered = await load.stop()
    expect(gateway.process.signalCode).toBe('SIGKILL')
    expect(answered.refused.filter(isNotLate)).toEqual([])
    if (round < killsDuringStart) await killDuringStart()

    gateway = await startServing()
    expect(await statesOf(answered.acknowledged)).not.toContain(undefined)
    keep(answered.acknowledged)
    keep(await submitAgain(gateway.url, answered.unanswered))
  }
  const sent = [...acknowledged.values()]
  expect(sent.length).toBeGreaterThan(kills * blocksPerSecond * 0.05)
  await untilCommitted(Math.max(...sent.map(({ slot }) => slot)))
  expect(new Set(await statesOf(sent))).toEqual(new Set(['finalized']))
  await expectBookedOnce(sent)
}, 480_000)

/** A submitted block. */
interface Sent extends SignedBlock {
  readonly slot: number
  readonly payment: (SignedPayment & { readonly spend: OutputId }) | undefined
}

/** Without a state cache: each slot reads the state that it needs from the database. */
const env = () => ({ DATABASE_URL: folder.databaseUrl, STATE_MEMORY: '0' })

/** Spendable outputs, each with the user whose key unlocks it. */
type Purse = { readonly outputId: OutputId; readonly owner: number }[]

async function startServing(): Promise<Program> {
  const program = await startProgram(env())
  await untilHealth(program.url)
  return program
}

async function killDuringStart(): Promise<void> {
  const starting = spawnProgram(env())
  await delay(random.between(300, 1_200))
  await starting.end('SIGKILL')
}

/** Splits the genesis outputs of some users, so that many transactions do not depend on each other. */
async function fillPurse(url: string): Promise<Purse> {
  const offer = await offerOf(url)
  const purse: Purse = []
  for (let owner = 1; owner < users.length; owner++) {
    const key = user(owner)
    const spend = present((await genesisOutputs(url, key))[0], 'genesis output')
    const outputs = Array.from({ length: 125 }, () => ownedBy(key, 8_000_000n))
    const creationSlot = slotNow(offer.network)
    const payment = paymentOf(offer.network, { spend, key, outputs, creationSlot })
    const { bytes, blockId } = blockOf(offer, payment.payload)
    expect(await (await postBytes(url, bytes)).json()).toEqual({ blockId })
    purse.push(...payment.created.map((outputId) => ({ outputId, owner })))
  }
  return random.shuffled(purse)
}

interface Answered {
  readonly acknowledged: Sent[]
  /** Messages of all other responses. */
  readonly refused: string[]
  /** Blocks without a response, because the process was killed. */
  readonly unanswered: Sent[]
}

/** Sends blocks at a constant rate until it is stopped, without waiting for responses. */
async function startLoad(url: string, purse: Purse) {
  let offer = await offerOf(url)
  let isRenewing = false
  const answered: Answered = { acknowledged: [], refused: [], unanswered: [] }
  const pending: Promise<void>[] = []
  const begun = performance.now()
  let count = 0

  async function renew(): Promise<void> {
    isRenewing = true
    // There is no new offer after the kill.
    offer = await offerOf(url).catch(() => offer)
    isRenewing = false
  }

  const timer = setInterval(() => {
    // A block whose commitment is too old is rejected permanently.
    if (!isFresh(offer) && !isRenewing) void renew()
    const due = ((performance.now() - begun) / 1_000) * blocksPerSecond
    const limit = Math.min(due, count + blocksPerTick)
    for (; isFresh(offer) && count < limit; count++) {
      pending.push(submit(url, nextBlock(offer, purse), answered))
    }
  }, 2)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(pending)
      return answered
    },
  }
}

async function submit(url: string, block: Sent, answered: Answered): Promise<void> {
  try {
    const response = await postBytes(url, block.bytes)
    if (response.status === 201) answered.acknowledged.push(block)
    else answered.refused.push(await response.text())
  } catch {
    // The kill closed the connection.
    answered.unanswered.push(block)
  }
}

let serial = 0

function nextBlock(offer: Offer, purse: Purse): Sent {
  serial++
  const slot = slotNow(offer.network)
  const coin = serial % blocksPerPayment === 0 ? purse.pop() : undefined
  if (coin === undefined) {
    const data = taggedData('0x6b696c6c', `0x${serial.toString(16).padStart(8, '0')}`)
    return { ...blockOf(offer, data), slot, payment: undefined }
  }
  const outputs = [3_000_000n, 5_000_000n].map((amount) => {
    return ownedBy(user(random.between(0, users.length - 1)), amount)
  })
  const spending = { spend: coin.outputId, key: user(coin.owner), outputs, creationSlot: slot }
  const payment = paymentOf(offer.network, spending)
  return {
    ...blockOf(offer, payment.payload),
    slot,
    payment: { ...payment, spend: coin.outputId },
  }
}

/** Sends blocks without a response again, as a client does, and returns those that are acknowledged now. */
async function submitAgain(url: string, blocks: readonly Sent[]): Promise<Sent[]> {
  const answered: Answered = { acknowledged: [], refused: [], unanswered: [] }
  for (const some of inChunks(blocks)) {
    await Promise.all(some.map((block) => submit(url, block, answered)))
  }
  expect(answered.unanswered).toEqual([])
  expect(answered.refused.filter(isNotLate)).toEqual([])
  return answered.acknowledged
}

/** On a busy machine a block may wait for seconds until its slot is committed. It is then rejected, not acknowledged. */
function isNotLate(refusal: string): boolean {
  return !refusal.includes('already committed')
}

/** Splits a list into parts of 50, the number of requests that a client sends at once. */
function inChunks<T>(list: readonly T[]): T[][] {
  const chunks = Math.ceil(list.length / 50)
  return Array.from({ length: chunks }, (_, chunk) => list.slice(chunk * 50, chunk * 50 + 50))
}

/** Returns the state of each block, or `undefined` for a block that the gateway does not know. */
async function statesOf(blocks: readonly Sent[]): Promise<(string | undefined)[]> {
  const states: (string | undefined)[] = []
  for (const some of inChunks(blocks)) {
    const requests = some.map(async ({ blockId }) => {
      const response = await rest(`${gateway.url}/api/core/v3/blocks/${blockId}/metadata`)
      const { blockState } = await response.json()
      return blockState
    })
    states.push(...(await Promise.all(requests)))
  }
  return states
}

async function untilCommitted(slot: number): Promise<void> {
  await until(async () => {
    const { status } = await restJson(`${gateway.url}/api/core/v3/info`)
    return status.latestFinalizedSlot >= slot
  })
}

/** Expects one row for each output that an acknowledged transaction created and one for the output that it spent. */
async function expectBookedOnce(sent: readonly Sent[]): Promise<void> {
  const rows = new Map<string, number>()
  for (const key of users) {
    const log = await logOf(addressOf(key))
    expect(log.map(({ ordinal }) => Number(ordinal))).toEqual(log.map((_, i) => i + 1))
    for (const { outputId, isSpent } of log) {
      const row = rowName(outputId, isSpent)
      rows.set(row, (rows.get(row) ?? 0) + 1)
    }
  }
  expect([...rows].filter(([, count]) => count !== 1)).toEqual([])
  const payments = sent.flatMap(({ payment }) => payment ?? [])
  expect(payments.length).toBeGreaterThan(kills)
  const expected = payments.flatMap(({ created, spend }) => [
    ...created.map((id) => rowName(id, false)),
    rowName(spend, true),
  ])
  expect(expected.filter((row) => !rows.has(row))).toEqual([])
}

function rowName(outputId: string, isSpent: boolean): string {
  return `${outputId} ${isSpent ? 'spent' : 'created'}`
}

interface Row {
  readonly outputId: string
  readonly isSpent: boolean
  readonly ordinal: string
}

/** Returns all updates of an address, oldest first. */
async function logOf(address: string): Promise<Row[]> {
  const query = `query ($address: String!, $after: String) {
    ledgerUpdates(address: $address, sort: OLDEST, first: 1000, after: $after) {
      nodes { outputId isSpent ordinal }
      pageInfo { hasNextPage endCursor }
    }
  }`
  const rows: Row[] = []
  let after: string | undefined
  do {
    const { data } = await graphql(gateway.url, query, { address, after })
    const { nodes, pageInfo } = data.ledgerUpdates
    rows.push(...nodes)
    after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined
  } while (after !== undefined)
  return rows
}
