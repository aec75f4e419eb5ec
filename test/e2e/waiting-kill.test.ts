import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { graphql } from '../support/client.ts'
import { type Program, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  type SignedPayment,
  slotNow,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** Transactions that wait for their inputs while their gateway is killed. */

let folder: UsualFolder
let gateway: Program
let env: Record<string, string>

beforeEach(async () => {
  folder = await makeUsualFolder()
  // Slots stay open longer than a gateway takes to restart.
  const defaults = developmentParameters(Math.floor(Date.now() / 1_000) - 400)
  const parameters = { ...defaults, minCommittableAge: 120, maxCommittableAge: 200 }
  const file = folder.file('parameters.json')
  writeFileSync(file, JSON.stringify(print(ProtocolParameters, parameters)))
  env = { DATABASE_URL: folder.databaseUrl, PARAMETERS_FILE: file }
  gateway = await startProgram(env)
  await untilHealth(gateway.url)
})
afterEach(async () => {
  await gateway.end('SIGTERM')
  await folder.remove()
})

test('waiting transactions survive kill -9 and are booked in order when their input exists', async () => {
  const { parent, child, rival, grandchild } = await makeFamily()
  await submitAndBook(grandchild)
  await submitAndBook(child)
  await submitAndBook(rival)
  expect(await statesOf(grandchild, child, rival)).toEqual(['PENDING', 'PENDING', 'PENDING'])
  await restart()
  expect(await statesOf(grandchild, child, rival)).toEqual(['PENDING', 'PENDING', 'PENDING'])
  await submitAndBook(parent)
  expect(await statesOf(parent, child, grandchild, rival)).toEqual([
    'ACCEPTED',
    'ACCEPTED',
    'ACCEPTED',
    'FAILED 1',
  ])
  await restart()
  expect(await statesOf(parent, child, grandchild, rival)).toEqual([
    'ACCEPTED',
    'ACCEPTED',
    'ACCEPTED',
    'FAILED 1',
  ])
}, 120_000)

test('acknowledged transactions that are not booked before kill -9 are booked afterwards', async () => {
  const { parent, child, grandchild } = await makeFamily()
  const { url } = gateway
  const offer = await offerOf(url)
  // The kill follows the last acknowledgement at once. What is not booked by then is booked later in the same order.
  for (const { payload } of [grandchild, child, parent]) {
    expect((await postBytes(url, blockOf(offer, payload).bytes)).status).toBe(201)
  }
  await restart()
  for (const one of [parent, child, grandchild]) {
    await until(async () => (await statesOf(one))[0] !== 'PENDING', { deadlineMs: 55_000 })
  }
  expect(await statesOf(parent, child, grandchild)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
}, 120_000)

async function restart(): Promise<void> {
  await gateway.end('SIGKILL')
  gateway = await startProgram(env)
  await untilHealth(gateway.url)
}

/** Creates a parent, a child that spends it, a rival of the child, and a grandchild that spends the child. */
async function makeFamily() {
  const { network } = await offerOf(gateway.url)
  const key = user(1)
  const creationSlot = slotNow(network)
  const pay = (spend: OutputId | undefined, to: number): SignedPayment => {
    const outputs = [ownedBy(user(to), 1_000_000_000n)]
    return paymentOf(network, { spend: present(spend, 'an output'), key, outputs, creationSlot })
  }
  const parent = pay((await genesisOutputs(gateway.url, key))[0], 1)
  const child = pay(parent.created[0], 1)
  return {
    parent,
    child,
    rival: pay(parent.created[0], 2),
    grandchild: pay(child.created[0], 3),
  }
}

/** Submits a payment and waits until its block is booked. */
async function submitAndBook({ payload }: SignedPayment): Promise<void> {
  const { bytes, blockId } = blockOf(await offerOf(gateway.url), payload)
  expect((await postBytes(gateway.url, bytes)).status).toBe(201)
  const url = `${gateway.url}/api/core/v3/blocks/${blockId}/metadata`
  await until(async () => (await restJson(url)).blockState !== 'pending', { deadlineMs: 55_000 })
}

async function statesOf(...payments: readonly SignedPayment[]): Promise<string[]> {
  const states = payments.map(async ({ transactionId }) => {
    const query = `{ transaction(id: "${transactionId}") { state failure { code } } }`
    const { state, failure } = (await graphql(gateway.url, query)).data.transaction
    return failure === null ? state : `${state} ${failure.code}`
  })
  return Promise.all(states)
}
