import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytesToHex } from '../../../src/lib/hex.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import type { GenesisPlan } from '../../../src/node/genesis.ts'
import type { Keypair } from '../../../src/protocol/keys.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import type { CommitmentId, SlotIndex } from '../../../src/protocol/primitives.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { graphql } from '../../support/client.ts'
import { createSettableClock } from '../../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post, refusal, submit } from '../../support/submit.ts'
import {
  blockOf,
  offerOf,
  type SignedBlock,
  taggedData,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Issuers that lose the right to issue: their entry at the end of the slot that a block commits to decides. */

const keys = developmentKeys()
/** Has no block issuance credits at the start. */
const poor = user(0)
/** May issue blocks up to this slot. */
const retiring = keys.issuer
const expirySlot = 50
/** The slot in which the gateway starts, and the oldest slot to which blocks may commit throughout the test. */
const startSeconds = 1_800_000_000
const startSlot = 65
const oldest = startSlot + 3 - 30
const clock = createSettableClock(BigInt(startSeconds) * 1_000_000_000n)

let folder: string
let gateway: TestGateway

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-issuers-'))
  const GENESIS_FILE = join(folder, 'genesis.json')
  writeFileSync(GENESIS_FILE, JSON.stringify(genesisJson()))
  gateway = await startGateway({ clock, env: { GENESIS_FILE } })
  // The gateway accepts blocks before it has caught up with its clock.
  await untilCommitted(gateway.url, startSlot - 4)
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Creates the development genesis without credits, and with an account that expires. */
function genesisJson(): object {
  const { parameters, outputs }: GenesisPlan = developmentGenesis(keys, startSeconds)
  const changed = outputs.map((output): Output => {
    if (output.type !== 1 || output.accountId !== accountIdOfKey(retiring)) return output
    const blockIssuerKeys = [{ type: 0, pubKeyHash: retiring.publicKeyHash }] as const
    return { ...output, features: [{ type: 6, expirySlot, blockIssuerKeys }] }
  })
  return {
    parameters: print(ProtocolParameters, parameters),
    outputs: changed.map((output) => print(Output, output)),
  }
}

let issued = 0n

/** Creates a block of the current time that commits to a slot. */
async function blockOn(slot: SlotIndex, key: Keypair): Promise<SignedBlock> {
  const slotCommitmentId = await commitmentOf(slot)
  issued += 1n
  const issuingTime = clock.nowNs() + issued
  const header = { issuingTime, slotCommitmentId, issuerId: accountIdOfKey(key) }
  return blockOf(await offerOf(gateway.url), taggedData('0x746167', '0x'), { key, header })
}

async function commitmentOf(index: SlotIndex): Promise<CommitmentId> {
  const { data } = await graphql(
    gateway.url,
    'query ($index: UInt32!) { milestone(index: $index) { commitmentId } }',
    { index },
  )
  return data.milestone.commitmentId
}

/** Expects REST and GraphQL to refuse a block with one message; returns the status of REST and the error of GraphQL. */
async function refused({ bytes }: SignedBlock) {
  const [status, message] = await refusal(await post(gateway.url, bytes))
  const failure = await submit(gateway.url, { bytes: bytesToHex(bytes) })
  expect(failure).toMatchObject({ message })
  return { status, ...(typeof failure === 'string' ? {} : failure) }
}

describe('an issuer that expires', () => {
  const committed = [
    ['a slot long before its expiry', oldest],
    ['its last slot', expirySlot],
  ] as const
  test.each(committed)('may issue a block that commits to %s', async (_name, slot) => {
    await acceptedId(await post(gateway.url, (await blockOn(slot, retiring)).bytes))
  })

  test('may not issue a block that commits to the next slot', async () => {
    expect(await refused(await blockOn(expirySlot + 1, retiring))).toEqual({
      status: 400,
      message: expect.stringMatching(/^header\.issuerId: /),
      code: 'ISSUER_EXPIRED',
      issuerId: accountIdOfKey(retiring),
      expirySlot,
    })
  })
})

describe('an issuer without credits', () => {
  test('may issue until a block commits to a slot in which it is in debt', async () => {
    const first = await blockOn(startSlot - 4, poor)
    const { body } = first.block
    const cost = body.type === 0 ? body.maxBurnedMana : 0n
    await acceptedId(await post(gateway.url, first.bytes))
    clock.advance(3_000_000_000n)
    await untilCommitted(gateway.url, startSlot)

    await acceptedId(await post(gateway.url, (await blockOn(startSlot - 1, poor)).bytes))
    expect(await refused(await blockOn(startSlot, poor))).toEqual({
      status: 400,
      message: expect.stringMatching(/^header\.issuerId: /),
      code: 'ISSUER_IN_DEBT',
      issuerId: accountIdOfKey(poor),
      credits: `${-cost}`,
    })
  })
})
