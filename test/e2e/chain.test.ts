import { TaggedDataPayload } from '@iota/sdk-wasm/node/lib/index.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import type { OutputId, SlotIndex } from '../../src/protocol/primitives.ts'
import { graphql } from '../support/client.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { logTables } from '../support/log-tables.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { openSdk } from '../support/sdk.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  untilHealth,
  user,
} from '../support/wallet.ts'

/**
 * A chain of gateways. A holds the ledger; A2 is another process on the same PostgreSQL. B follows A, or A2 while A is
 * unavailable, and C follows B. B and C have a SQLite file each.
 */

// Each start, kill and takeover of a process takes seconds.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

const settings = new Map<Name, Record<string, string>>()
const programs = new Map<Name, Program>()
let shared: TestDatabase
let folders: readonly Folder[]
type Name = 'A' | 'A2' | 'B' | 'C'

beforeAll(async () => {
  shared = await present(databases[1], 'PostgreSQL').create()
  folders = [makeFolder(), makeFolder()]
  const [b, c] = folders.map(({ databaseUrl }) => databaseUrl)
  await start('A', { DATABASE_URL: shared.url })
  await start('A2', { DATABASE_URL: shared.url })
  const behind = `${urlOf('A')},${urlOf('A2')}`
  await start('B', { DATABASE_URL: b ?? '', LEDGER: 'upstream', UPSTREAM_URLS: behind })
  await start('C', { DATABASE_URL: c ?? '', LEDGER: 'upstream', UPSTREAM_URLS: urlOf('B') })
})
afterAll(async () => {
  for (const program of programs.values()) await program.end('SIGTERM')
  for (const folder of folders) folder.remove()
  await shared.remove()
})

/** Starts a gateway, on its former port if `env` has one, and keeps its settings. */
async function start(name: Name, env: Record<string, string>): Promise<void> {
  const folder = present(folders[0], 'folder')
  const KEY_FILE = folder.databaseFile.replace('test.db', `${name}.key`)
  const program = await startProgram({ KEY_FILE, ...env })
  programs.set(name, program)
  settings.set(name, { ...env, PORT: new URL(program.url).port })
}

function restart(name: Name): Promise<void> {
  return start(name, present(settings.get(name), name))
}

async function end(name: Name, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await present(programs.get(name), name).end(signal)
  programs.delete(name)
}

function urlOf(name: Name): string {
  return present(programs.get(name), name).url
}

interface Paid {
  readonly blockId: string
  readonly transactionId: string
  readonly created: readonly OutputId[]
  readonly slot: SlotIndex
}

/** Splits the genesis output of a user through a gateway, and waits until that gateway has committed the slot. */
async function pay(by: number, name: Name): Promise<Paid> {
  const url = urlOf(name)
  const offer = await offerOf(url)
  const key = user(by)
  const spend = present((await genesisOutputs(url, key))[0], 'output')
  const outputs = [ownedBy(user(by + 1), 400_000_000n), ownedBy(key, 600_000_000n)]
  const creationSlot = slotNow(offer.network)
  const payment = paymentOf(offer.network, { key, spend, outputs, creationSlot })
  const { bytes, blockId } = blockOf(offer, payment.payload)
  expect(await acceptedId(await post(url, bytes))).toBe(blockId)
  const slot = slotNow(offer.network)
  await untilCommitted(url, slot)
  return { blockId, slot, transactionId: payment.transactionId, created: payment.created }
}

/** Compares the logs of all three databases up to a slot. */
async function expectSameLogs(upTo: SlotIndex): Promise<void> {
  await untilCommitted(urlOf('C'), upTo)
  const urls = [shared.url, ...folders.map(({ databaseUrl }) => databaseUrl)]
  const [kept, b, c] = await Promise.all(urls.map((url) => logTables(url, upTo)))
  expect(b).toEqual(kept)
  expect(c).toEqual(kept)
}

test('followers write the same log, whichever gateway received a block', async () => {
  const payments = [await pay(1, 'A'), await pay(3, 'C')]
  await expectSameLogs(Math.max(...payments.map(({ slot }) => slot)))
  const [kept] = await Promise.all([logTables(shared.url, 0)])
  expect(kept.ledger_updates.length).toBe(13 + 2 * 3)
})

test('a cursor of one gateway works on the others', async () => {
  const page = (name: Name, after: string | null) =>
    graphql(urlOf(name), updatesQuery, { address: addressOf(user(1)), after })
  const expected = (await page('A', null)).data.ledgerUpdates.edges
  for (const name of ['B', 'C'] as const) {
    expect((await page(name, null)).data.ledgerUpdates.edges).toEqual(expected)
    expect((await page(name, expected[0].cursor)).data.ledgerUpdates.edges).toEqual(
      expected.slice(1),
    )
  }
})

test('a follower fetches missing blocks from its upstream node and keeps them', async () => {
  const { blockId, transactionId, created } = await pay(5, 'A')
  const path = (rest: string) => `/api/core/v3/${rest}`
  const paths = [
    `blocks/${blockId}/full`,
    `transactions/${transactionId}/metadata`,
    `transactions/${transactionId}/included-block/metadata`,
    `outputs/${created[0]}`,
  ].map(path)
  const expected = await Promise.all(paths.map((one) => restJson(urlOf('A') + one)))
  for (const name of ['C', 'B', 'C'] as const) {
    await untilFinal(name, transactionId)
    const answers = await Promise.all(paths.map((one) => restJson(urlOf(name) + one)))
    expect(answers).toEqual(expected)
  }
  const { data } = await graphql(urlOf('C'), transactionQuery, { id: transactionId })
  const outputs = created.map((outputId) => ({ outputId, blockId, spentBy: null }))
  expect(data.transaction).toEqual({ state: 'FINALIZED', blockId, outputs })
})

test('a follower continues with the next node when one is killed', async () => {
  await end('A', 'SIGKILL')
  const { slot } = await pay(7, 'C')
  await expectSameLogs(slot)
  await restart('A')
})

test('followers serve reads without an upstream node, and continue when it is back', async () => {
  await end('A', 'SIGTERM')
  await end('A2', 'SIGTERM')
  await untilHealth(urlOf('B'), 503)
  const before = await genesisOutputs(urlOf('C'), user(1))
  expect(before.length).toBe(1)
  await end('C', 'SIGKILL')
  await restart('C')
  expect(await genesisOutputs(urlOf('C'), user(1))).toEqual(before)
  expect((await restJson(`${urlOf('C')}/openapi.json`)).info.title).toBeDefined()
  await restart('A')
  await untilHealth(urlOf('C'))
  const { slot } = await pay(0, 'C')
  await expectSameLogs(slot)
})

test('the official client works on the last gateway of the chain', async () => {
  const sdk = await openSdk(urlOf('C'))
  const { info } = await sdk.client.getNodeInfo()
  expect(info.status.isHealthy).toBe(true)
  const tagged = await sdk.block(new TaggedDataPayload('0x746167', '0x01'))
  expect(await sdk.client.postBlock(tagged.block)).toBe(tagged.blockId)
  expect(await sdk.client.getBlock(tagged.blockId)).toEqual(tagged.block)
  const [outputId = ''] = await genesisOutputs(urlOf('C'), user(9))
  const amount = 300_000_000n
  const sent = await sdk.payment({ outputId, from: 9, to: 8, amount, withCommitment: true })
  const { block, blockId } = await sdk.block(sent.payload)
  expect(await sdk.client.postBlock(block)).toBe(blockId)
  expect(['pending', 'accepted', 'finalized']).toContain(
    (await sdk.client.getBlockMetadata(blockId)).blockState,
  )
  await untilFinal('C', sent.transactionId)
  const [toOther = ''] = sent.created
  expect((await sdk.client.getOutput(toOther)).output).toEqual(sent.payload.transaction.outputs[0])
  expect((await sdk.client.getOutputMetadata(outputId)).spent?.transactionId).toBe(
    sent.transactionId,
  )
})

async function untilFinal(name: Name, transactionId: string): Promise<void> {
  const isFinal = async () => {
    const { data } = await graphql(urlOf(name), transactionQuery, { id: transactionId })
    return data.transaction?.outputs.length === 2 && data.transaction.state === 'FINALIZED'
  }
  await until(isFinal, { what: `${transactionId} is final on ${name}`, deadlineMs: 55_000 })
}

const updatesQuery = /* GraphQL */ `
  query ($address: String!, $after: String) {
    ledgerUpdates(address: $address, after: $after, sort: OLDEST) {
      edges { cursor node { seq: ordinal outputId isSpent milestoneIndex historyHash } }
    }
  }
`

const transactionQuery = /* GraphQL */ `
  query ($id: TransactionId!) {
    transaction(id: $id) { state blockId outputs { outputId blockId spentBy } }
  }
`
