import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../../src/feed/cursor.ts'
import { bytesToHex } from '../../../../src/lib/hex.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import { SlotCommitment } from '../../../../src/protocol/commitment.ts'
import { encode } from '../../../../src/protocol/schema/schema.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { branchOf } from '../../../../src/store/values.ts'
import { defaultDatabase, openedStore } from '../../../support/databases.ts'
import { askSchema } from '../../../support/graphql.ts'
import { unwrap } from '../../../support/log-store.ts'
import { entry, slotCommit, testGenesis, testId } from '../../../support/store-rows.ts'

const parameters = {
  ...developmentParameters(0),
  bech32Hrp: 'tst',
  genesisSlot: 0,
  genesisUnixTimestamp: 1_700_000_000n,
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
  minCommittableAge: 3,
}
const commitment = {
  protocolVersion: 3,
  slot: 1,
  previousCommitmentId: testId('CommitmentId', 36, 0),
  rootsId: testId('Roots', 32, 1),
  cumulativeWeight: 2n ** 60n,
  referenceManaCost: 1n,
}
const bytes = encode(SlotCommitment, commitment)
const genesisLogId = testGenesis().network.logId
const database = await defaultDatabase().create()
let store: Store

beforeAll(async () => {
  store = await openedStore(database.url)
  const { term } = unwrap(await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 }))
  unwrap(await store.write.initialize(term, testGenesis()))
  unwrap(await store.write.closeSlots(term, 2))
  const one = { ...slotCommit(1, [entry(0, 1), entry(1, 2)]), bytes }
  unwrap(await store.write.commitSlots(term, [one, slotCommit(2)]))
})
afterAll(async () => {
  await store.close()
  await database.remove()
})

const ask = (source: string) => askSchema({ store, parameters }, source)

describe('milestone', () => {
  test('has its commitment, time and part of the log', async () => {
    const { data, errors } = await ask(`{ milestone(index: 1) { index timestamp commitmentId bytes
      updateCount firstCursor lastCursor commitment { protocolVersion slot previousCommitmentId
      rootsId cumulativeWeight referenceManaCost } } }`)
    expect(errors).toBeUndefined()
    const branch = branchOf(slotCommit(1).commitmentId)
    expect(data.milestone).toEqual({
      index: 1,
      timestamp: 1_700_000_010,
      commitmentId: slotCommit(1).commitmentId,
      bytes: bytesToHex(bytes),
      updateCount: '2',
      firstCursor: encodeCursor({ logId: genesisLogId, seq: 2, branch }),
      lastCursor: encodeCursor({ logId: genesisLogId, seq: 3, branch }),
      commitment: {
        ...commitment,
        cumulativeWeight: '1152921504606846976',
        referenceManaCost: '1',
      },
    })
  })

  test('is the newest one by default, here one without updates', async () => {
    const response = await ask('{ milestone { index updateCount firstCursor lastCursor } }')
    const milestone = { index: 2, updateCount: '0', firstCursor: null, lastCursor: null }
    expect(response).toEqual({ data: { milestone } })
  })

  test.each([
    // The end of a slot is the beginning of the next one.
    ['2023-11-14T22:13:29.999Z', 1],
    ['2023-11-14T22:13:30Z', 2],
    ['1969-12-31T23:59:59Z', 0],
    ['2023-11-14T22:13:40Z', undefined],
  ] as const)('at %s is that of slot %i', async (at, index) => {
    const { data, errors } = await ask(`{ milestone(at: "${at}") { index } }`)
    expect([data.milestone?.index, errors]).toEqual([index, undefined])
  })

  test('has its index, if a time is given as well', async () => {
    const response = await ask('{ milestone(index: 1, at: "2023-11-14T22:13:30Z") { index } }')
    expect(response).toEqual({ data: { milestone: { index: 1 } } })
  })

  test('is null for an uncommitted slot', async () => {
    const response = await ask('{ milestone(index: 3) { index } }')
    expect(response).toEqual({ data: { milestone: null } })
  })

  test.each(['-1', '4294967296', '"one"'])(
    'is refused for a malformed index: %s',
    async (index) => {
      const response = await ask(`{ milestone(index: ${index}) { index } }`)
      expect(response.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT'])
    },
  )
})
