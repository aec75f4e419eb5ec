import { TaggedDataPayload, Utils } from '@iota/sdk-wasm/node/lib/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { developmentKeys } from '../../src/node/embedded/development.ts'
import { graphql } from '../support/client.ts'
import { type Program, startProgram } from '../support/program.ts'
import { openSdk, type Sdk, type SdkBlock } from '../support/sdk.ts'
import {
  type SdkSpending,
  type SdkTransaction,
  type SdkUser,
  sdkUser,
} from '../support/sdk-user.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import { addressOf, genesisOutputs, untilCommitted } from '../support/wallet.ts'

/** The first transactions of a new user, all signed by the official client (ledger reference 14.3). */

let folder: UsualFolder
let gateway: Program
let sdk: Sdk
let faucet: SdkUser
let user: SdkUser

beforeAll(async () => {
  folder = await makeUsualFolder()
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  sdk = await openSdk(gateway.url)
  faucet = await sdkUser(sdk, 2)
  user = await sdkUser(sdk, 3)
})
afterAll(async () => {
  await gateway.end('SIGTERM')
  await folder.remove()
})

/** Base tokens of each output. An implicit account needs at least 31,700. */
const amount = 1_000_000n
const mana = 10_000_000n
const allotted = 20_000_000n
const maxSlot = 0xffff_ffff

describe('a new user', () => {
  test('gets an implicit account from the faucet, converts it and issues blocks that allot their own cost', async () => {
    const received = await receiveImplicitAccount()
    const { accountId } = received
    expect(await entryAt(accountId, received.slot - 1)).toBeNull()
    const fresh = { credits: '0', keyHashes: [user.keyHash], expirySlot: maxSlot }
    expect(await entryAt(accountId, received.slot)).toMatchObject(fresh)

    const allotment = await receiveAllotment(accountId, received.rest)
    expect(allotment.slot).toBeGreaterThan(received.slot)
    expect(await entryAt(accountId, allotment.slot)).toMatchObject({ credits: `${allotted}` })
    await untilIssuanceOf(allotment.slot)

    const conversion = await convert(accountId, received.implicitOutput)
    expect(await accountOutput(accountId)).toEqual({
      outputId: conversion.created[0],
      content: { __typename: 'AccountOutput', accountId },
    })
    const converted = await entryAt(accountId, conversion.slot)
    expect(converted).toMatchObject({ ...fresh, credits: `${allotted}` })

    const data = await issue(accountId, new TaggedDataPayload('0x746167', '0x64617461'))
    const left = allotted - costOf(data)
    expect(await entryAt(accountId, data.slot)).toMatchObject({ credits: `${left}` })

    const transfer = await pay(accountId, allotment.funds)
    expect(await entryAt(accountId, transfer.slot)).toMatchObject({ credits: `${left}` })

    const withData = new TaggedDataPayload('0x746167', '0x')
    const transferWithData = await pay(accountId, transfer.created[1] ?? '', withData)
    expect(await entryAt(accountId, transferWithData.slot)).toMatchObject({
      credits: `${left + nestedLength}`,
    })
  })
})

/** The client counts 4 bytes at 500 for the length of a payload inside a transaction; the node does not (10, row 25). */
const nestedLength = 2_000n

/** The faucet pays to the implicit account creation address. The account id is the hash of the output id. */
async function receiveImplicitAccount() {
  const [spend = ''] = await genesisOutputs(gateway.url, developmentKeys().faucet)
  expect(faucet.address).toBe(addressOf(developmentKeys().faucet))
  const sent = await faucet.transaction({
    spend,
    outputs: async (held) => [
      await user.implicitAccount(amount, mana),
      await faucet.basicOutput(held.amount - amount, held.mana - mana),
    ],
  })
  const booked = await settle(sent, await sdk.block(sent.payload))
  const [implicitOutput = '', rest = ''] = booked.created
  return { ...booked, implicitOutput, rest, accountId: Utils.computeAccountId(implicitOutput) }
}

/** The faucet allots mana to the account and pays base tokens. Only an account that existed before the slot gets credits. */
async function receiveAllotment(accountId: string, rest: string) {
  const sent = await faucet.transaction({
    spend: rest,
    allot: { accountId, mana: allotted },
    outputs: async (held) => [
      await user.basicOutput(amount, mana),
      await faucet.basicOutput(held.amount - amount, held.mana - mana - allotted),
    ],
  })
  const booked = await settle(sent, await sdk.block(sent.payload))
  return { ...booked, funds: booked.created[0] ?? '' }
}

/** Converts the implicit account to an account, in a block of that account. */
function convert(accountId: string, implicitOutput: string) {
  return selfPaying(accountId, (cost) => ({
    spend: implicitOutput,
    creditsOf: accountId,
    outputs: async (held) => [await user.account(accountId, held.amount, held.mana - cost)],
  }))
}

/** Transfers base tokens to the faucet, in a block of the account. */
function pay(accountId: string, spend: string, payload?: TaggedDataPayload) {
  return selfPaying(accountId, (cost) => ({
    spend,
    ...(payload && { payload }),
    outputs: async (held) => [
      await faucet.basicOutput(100_000n, 0n),
      await user.basicOutput(held.amount - 100_000n, held.mana - cost),
    ],
  }))
}

/** Submits a transaction that allots the cost of its block to the account. The allotted amount does not change the cost. */
async function selfPaying(
  accountId: string,
  spending: (cost: bigint) => Omit<SdkSpending, 'allot'>,
) {
  const make = (cost: bigint) =>
    user.transaction({ ...spending(cost), allot: { accountId, mana: cost } })
  const draft = await user.block(accountId, (await make(1n)).payload)
  const sent = await make(costOf(draft))
  return settle(sent, await user.block(accountId, sent.payload))
}

/** Posts the block of a transaction and waits until it is committed. */
async function settle(sent: SdkTransaction, sdkBlock: SdkBlock) {
  const slot = await post(sdkBlock)
  const query = 'query ($id: TransactionId!) { transaction(id: $id) { state failure { name } } }'
  const { data } = await graphql(gateway.url, query, { id: sent.transactionId })
  expect(data.transaction).toEqual({ state: 'FINALIZED', failure: null })
  return { ...sent, slot }
}

/** Issues a block of the account with a payload and waits until it is committed. */
async function issue(accountId: string, payload: TaggedDataPayload) {
  const sdkBlock = await user.block(accountId, payload)
  return { ...sdkBlock, slot: await post(sdkBlock) }
}

/** Posts a block, waits until its slot is committed, and returns the slot. */
async function post({ block, blockId }: SdkBlock): Promise<number> {
  expect(await sdk.client.postBlock(block)).toBe(blockId)
  const slot = Utils.computeSlotIndex(blockId)
  await untilCommitted(gateway.url, slot)
  return slot
}

/** Returns the cost of a block at the minimum price of work, which applies while the network has little load. */
function costOf({ block }: SdkBlock): bigint {
  return BigInt(Utils.blockWorkScore(block, sdk.parameters.workScoreParameters))
}

/** Waits until the issuance route returns a commitment to this slot or a later one. */
async function untilIssuanceOf(slot: number): Promise<void> {
  const isOffered = async () => (await sdk.client.getIssuance()).latestCommitment.slot >= slot
  await until(isOffered, { what: `a commitment to slot ${slot} is offered`, deadlineMs: 55_000 })
}

async function entryAt(id: string, milestoneIndex: number): Promise<object | null> {
  const query = `query ($id: AccountId!, $milestoneIndex: UInt32) {
    account(id: $id) {
      entry(milestoneIndex: $milestoneIndex) { credits updatedSlot expirySlot keyHashes }
    }
  }`
  const { data } = await graphql(gateway.url, query, { id, milestoneIndex })
  return data.account.entry
}

async function accountOutput(id: string): Promise<object> {
  const query = `query ($id: AccountId!) {
    account(id: $id) {
      output { outputId content { __typename ... on AccountOutput { accountId } } }
    }
  }`
  const { data } = await graphql(gateway.url, query, { id })
  return data.account.output
}
