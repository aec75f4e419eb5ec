import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { slotsBeforeStart } from '../../../src/node/embedded/development.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import type { NftId } from '../../../src/protocol/primitives.ts'
import { databases, type TestDatabase } from '../../support/databases.ts'
import { writeGenesis } from '../../support/genesis-gateway.ts'
import { logTables } from '../../support/log-tables.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  getJson,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** A follower that begins with a snapshot of a gateway, beside one that begins at the genesis. */

/** Owned by user 1; the last two change hands by time alone: one before the snapshot, one after it. */
const genesisOutputs: readonly Output[] = [
  ...Array.from({ length: 5 }, () => ownedBy(user(1), 1_000_000n)),
  expiring(slotsBeforeStart + 1),
  expiring(slotsBeforeStart + 40),
  timelocked(slotsBeforeStart + 40),
  {
    type: 4,
    amount: 1_000_000n,
    mana: 0n,
    nftId: `0x${'11'.repeat(32)}` as NftId,
    unlockConditions: ownedBy(user(3), 1n).unlockConditions,
    features: [],
    immutableFeatures: [],
  },
]

function expiring(slot: number): Output {
  const { unlockConditions, ...rest } = ownedBy(user(1), 1_000_000n)
  const returnAddress = { type: 0, pubKeyHash: user(2).publicKeyHash } as const
  return { ...rest, unlockConditions: [...unlockConditions, { type: 3, returnAddress, slot }] }
}

function timelocked(slot: number): Output {
  const { unlockConditions, ...rest } = ownedBy(user(1), 1_000_000n)
  return { ...rest, unlockConditions: [...unlockConditions, { type: 2, slot }] }
}

async function pay(node: TestGateway): Promise<void> {
  const offer = await offerOf(node.url)
  const path = `${node.url}/api/indexer/v2/outputs/basic?address=${addressOf(user(1))}&hasExpiration=false&hasTimelock=false`
  const [spend] = (await getJson(path)).items
  const outputs = [ownedBy(user(2), 400_000n), ownedBy(user(1), 600_000n)]
  const creationSlot = slotNow(offer.network)
  const payment = paymentOf(offer.network, { spend, key: user(1), outputs, creationSlot })
  const posted = await postBytes(node.url, blockOf(offer, payment.payload).bytes)
  expect(posted.status).toBe(201)
  await untilCommitted(node.url, slotNow(offer.network))
}

describe.each(databases)('on $name', ({ create }) => {
  let taken: TestDatabase[]
  let genesis: ReturnType<typeof writeGenesis>
  let node: TestGateway
  let whole: TestGateway

  const database = async () => {
    const one = await create()
    taken.push(one)
    return one.url
  }
  beforeAll(async () => {
    taken = []
    genesis = writeGenesis(genesisOutputs)
    node = await startGateway({
      env: {
        GENESIS_FILE: genesis.path,
        DATABASE_URL: await database(),
      },
    })
    whole = await startGateway({ env: await behind() })
    await pay(node)
  })
  afterAll(async () => {
    await whole.close()
    await node.close()
    for (const one of taken) await one.remove()
    genesis.remove()
  })

  async function behind() {
    return { LEDGER: 'upstream', UPSTREAM_URLS: node.url, DATABASE_URL: await database() }
  }

  test('it has the same from there on', async () => {
    const begun = await startGateway({ env: { ...(await behind()), SNAPSHOT: node.url } })
    const log = await getJson(`${begun.url}/api/gateway/v1/log`)
    const base = log.prunedSeq
    expect(base).toBeGreaterThan(0)
    expect(log.logId).toBe((await getJson(`${node.url}/api/gateway/v1/log`)).logId)
    await pay(node)
    const slot = (await getJson(`${node.url}/api/gateway/v1/log`)).milestoneIndex
    await Promise.all([whole, begun].map(({ url }) => untilCommitted(url, slot)))
    await expectSame(begun, base)
    await begun.close()
  })

  async function expectSame(begun: TestGateway, base: number) {
    await until(async () => {
      const [one, other] = [
        await logTables(whole.databaseUrl, 1e9),
        await logTables(begun.databaseUrl, 1e9),
      ]
      if (one.commitments.at(-1) !== other.commitments.at(-1)) return false
      const later = one.ledger_updates.filter((row) => Number(row.split(' ')[0]) > base)
      expect(later.length).toBeGreaterThan(0)
      expect(other.ledger_updates).toEqual(later)
      for (const name of ['unspent_outputs', 'balances', 'token_balances', 'network'] as const) {
        expect([name, other[name]]).toEqual([name, one[name]])
      }
      return true
    })
  }
})
