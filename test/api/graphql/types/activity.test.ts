import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Resolution } from '../../../../src/ledger/activity-buckets.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import type { Services } from '../../../../src/service/services.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { type ActivityLedger, foundActivityLedger } from '../../../support/activity-model.ts'
import { defaultDatabase, onDatabase, openedStore, takenLease } from '../../../support/databases.ts'
import { askSchema } from '../../../support/graphql.ts'
import { createSettableClock } from '../../../support/settable-clock.ts'

/** Epoch 0 begins on 2023-11-14 at 21:59:00. */
const genesis = Date.parse('2023-11-14T21:59:00Z') / 1_000
const parameters = {
  ...developmentParameters(0),
  genesisUnixTimestamp: BigInt(genesis),
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 3,
}
const newest = 40
const clock = createSettableClock(BigInt(genesis + (newest + 3) * 10) * 1_000_000_000n)
const database = await defaultDatabase().create()
let store: Store
let ledger: ActivityLedger

beforeAll(async () => {
  store = await openedStore(database.url)
  ledger = await foundActivityLedger({ store, term: await takenLease(store) }, 11, parameters)
  await ledger.commit(newest)
})
afterAll(async () => {
  await store.close()
  await database.remove()
})

const status = { slot: newest + 4, role: 'WRITER' }
const source = { status: () => status, node: undefined } as unknown as Services['source']
const ask = (document: string) => askSchema({ store, parameters, clock, source }, document)

const members = `start isComplete milestones blocks blockBytes transactionsAccepted transactionsFailed
  ledgerUpdates baseTokensMoved manaBurned addresses newAddresses`

/** Returns a span as the response has it. */
function pointOf(resolution: Resolution, bucket: number, start: string, isComplete: boolean) {
  const counted = ledger.activity(resolution, bucket)
  return {
    start,
    isComplete,
    milestones: `${counted?.slots}`,
    blocks: `${counted?.blocks}`,
    blockBytes: `${counted?.blockBytes}`,
    transactionsAccepted: `${counted?.accepted}`,
    transactionsFailed: `${counted?.failed}`,
    ledgerUpdates: `${counted?.updates}`,
    baseTokensMoved: `${counted?.moved}`,
    manaBurned: `${counted?.burned}`,
    addresses: `${counted?.addresses}`,
    newAddresses: `${counted?.newAddresses}`,
  }
}

describe('activity', () => {
  test('has the spans of a range of time, without its end', async () => {
    const { data, errors } = await ask(`{ activity(resolution: MINUTE,
      from: "2023-11-14T22:00:30Z", to: "2023-11-14T23:02:00.000+01:00") { ${members} } }`)
    expect(errors).toBeUndefined()
    const minute = genesis / 60
    expect(data.activity).toEqual([
      pointOf('MINUTE', minute + 1, '2023-11-14T22:00:00.000Z', true),
      pointOf('MINUTE', minute + 2, '2023-11-14T22:01:00.000Z', true),
    ])
  })

  test('has the spans from the genesis until now by default', async () => {
    const { data } = await ask(`{ hours: activity(resolution: HOUR) { ${members} }
      epochs: activity(resolution: EPOCH) { ${members} }
      days: activity(resolution: DAY) { ${members} } }`)
    const hour = Math.floor(genesis / 3_600)
    expect(data.hours).toEqual([
      pointOf('HOUR', hour, '2023-11-14T21:00:00.000Z', true),
      pointOf('HOUR', hour + 1, '2023-11-14T22:00:00.000Z', false),
    ])
    expect(data.days).toEqual([
      pointOf('DAY', Math.floor(genesis / 86_400), '2023-11-14T00:00:00.000Z', false),
    ])
    const begins = ['21:59:00', '22:00:10', '22:01:30', '22:02:50', '22:04:10', '22:05:30']
    expect(data.epochs).toEqual(
      begins.map((time, epoch) => pointOf('EPOCH', epoch, `2023-11-14T${time}.000Z`, epoch < 5)),
    )
  })

  test.each(['MINUTE', 'HOUR', 'DAY', 'EPOCH'])('has no %s before the genesis', async (one) => {
    const year = 'from: "2001-01-01T00:00:00Z", to: "2001-01-01T01:00:00Z"'
    const former = await ask(`{ activity(resolution: ${one}, ${year}) { start } }`)
    expect(former.data.activity).toEqual([])
    // The first epoch begins at 21:59.
    const hour = 'from: "2023-11-14T21:00:00Z", to: "2023-11-14T21:59:00Z"'
    const { data } = await ask(`{ activity(resolution: ${one}, ${hour}) { start } }`)
    expect(data.activity).toHaveLength(one === 'HOUR' || one === 'DAY' ? 1 : 0)
  })

  test.each([
    ['to: "2023-11-14T22:00:00Z", from: "2023-11-14T22:00:01Z"', 'ACTIVITY_RANGE_REVERSED'],
    ['to: "2023-11-14T22:00:00Z", from: "2023-11-14T05:19:59Z"', 'ACTIVITY_RANGE_TOO_WIDE'],
    ['to: "2023-11-14", from: "2023-11-14T22:00:00Z"', 'BAD_USER_INPUT'],
    ['to: "2023-02-31T22:00:00", from: "2023-11-14T22:00:00Z"', 'BAD_USER_INPUT'],
  ])('refuses %s', async (range, code) => {
    const { errors } = await ask(`{ activity(resolution: MINUTE, ${range}) { start } }`)
    const named = errors?.map(({ extensions }) => extensions?.code)
    // Validation refuses a value that the scalar does not accept, with a message of GraphQL.
    expect(named).toEqual(code === 'BAD_USER_INPUT' ? [expect.anything()] : [code])
  })

  test('accepts the widest range', async () => {
    const range = 'to: "2023-11-14T22:00:00Z", from: "2023-11-14T05:20:00Z"'
    const { data } = await ask(`{ activity(resolution: MINUTE, ${range}) { start } }`)
    expect(data.activity).toEqual([{ start: '2023-11-14T21:59:00.000Z' }])
  })

  test('omits spans with a slot that is not counted, and has null for what a node did not report', async () => {
    const where = `WHERE resolution = 1 AND bucket = ${genesis / 60 + 1}`
    await onDatabase(database.url, `UPDATE activity SET slots = slots - 1 ${where}`)
    const range = 'to: "2023-11-14T22:02:00Z"'
    const { data } = await ask(`{ activity(resolution: MINUTE, ${range}) { start } }`)
    expect(data.activity).toEqual([
      { start: '2023-11-14T21:59:00.000Z' },
      { start: '2023-11-14T22:01:00.000Z' },
    ])
    const unknown = `blocks = NULL, "blockBytes" = NULL, failed = NULL, "movedLow" = NULL, "burnedHigh" = NULL`
    await onDatabase(database.url, `UPDATE activity SET slots = slots + 1, ${unknown} ${where}`)
    const fields = 'blocks blockBytes transactionsFailed baseTokensMoved manaBurned'
    const again = await ask(`{ activity(resolution: MINUTE, from: "2023-11-14T22:00:00Z",
      to: "2023-11-14T22:01:00Z") { ${fields} } }`)
    const nothing = Object.fromEntries(fields.split(' ').map((name) => [name, null]))
    expect(again.data.activity).toEqual([nothing])
  })
})

test('status has the state of the ledger', async () => {
  const { data, errors } = await ask(`{ status { committed { slot end } finalized { slot }
    current { slot end } newestMilestone { index } lagSeconds blocksPerSecond transactionsPerSecond
    baseTokenSupply addresses unspentOutputs accounts role mode } }`)
  expect(errors).toBeUndefined()
  const minute = Array.from({ length: 6 }, (_, i) => ledger.activity('SLOT', newest - i))
  const blocks = minute.reduce((sum, one) => sum + (one?.blocks ?? 0), 0)
  const accepted = minute.reduce((sum, one) => sum + (one?.accepted ?? 0), 0)
  const { ranges } = await store.read.balanceRanges()
  expect(blocks * accepted).toBeGreaterThan(0)
  expect(data.status).toEqual({
    committed: { slot: newest, end: '2023-11-14T22:05:40.000Z' },
    finalized: { slot: newest },
    current: { slot: newest + 4, end: '2023-11-14T22:06:20.000Z' },
    newestMilestone: { index: newest },
    lagSeconds: '30',
    blocksPerSecond: blocks / 60,
    transactionsPerSecond: accepted / 60,
    baseTokenSupply: `${parameters.tokenSupply}`,
    addresses: `${ranges.reduce((sum, { addresses }) => sum + addresses, 0)}`,
    unspentOutputs: `${ledger.unspent().length}`,
    accounts: `${ledger.unspent().filter(({ output }) => output.type === 1).length}`,
    role: 'WRITER',
    mode: 'EMBEDDED',
  })
})
