import { expect, test } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import { runToCompletion } from '../../../src/lib/turns.ts'
import { openCommitments } from '../../../src/node/commitments.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
  slotsBeforeStart,
} from '../../../src/node/embedded/development.ts'
import { createHeartbeat } from '../../../src/node/embedded/heartbeat.ts'
import { issuanceNow } from '../../../src/node/embedded/issuance.ts'
import { loadLedgerState, stateMemoryOf } from '../../../src/node/embedded/state.ts'
import { genesisSteps } from '../../../src/node/genesis.ts'
import { Block } from '../../../src/protocol/block.ts'
import { slotOfId } from '../../../src/protocol/ids.ts'
import { networkOf } from '../../../src/protocol/network.ts'
import type { AccountId } from '../../../src/protocol/primitives.ts'
import { slotEnd, slotOfTime } from '../../../src/protocol/slots.ts'
import { decodeStored } from '../../../src/protocol/stored.ts'
import type { Store } from '../../../src/store/contract.ts'
import { defaultDatabase, useStore } from '../../support/databases.ts'
import { openEmbeddedLedger } from '../../support/embedded-ledger.ts'
import { createSettableClock } from '../../support/settable-clock.ts'
import { incomingBlock } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'
import { user } from '../../support/wallet.ts'

const keys = developmentKeys()
const startSeconds = 1_800_000_000
const use = useStore(defaultDatabase().create)

test('blocks of a slot that ends while they are built stay in that slot, and the next slot has its own', async () => {
  const plan = developmentGenesis(keys, startSeconds)
  const { parameters } = plan
  const { store, term } = use
  await store.write.initialize(term, runToCompletion(genesisSteps(plan)))
  const state = await loadLedgerState(store.read, parameters, stateMemoryOf(0))
  const isWriting = () => true
  const commitments = await openCommitments({ store, parameters, log: silentLog, isWriting })
  const first = parameters.genesisSlot + 1
  const firstEndNs = BigInt(slotEnd(parameters, first)) * 1_000_000_000n
  const clock = createSettableClock(firstEndNs - 1_000_000n)
  const slot = () => slotOfTime(parameters, clock.nowNs())
  const heartbeat = createHeartbeat({
    store,
    clock,
    network: networkOf(parameters),
    issuer: { accountId: accountIdOfKey(keys.issuer), key: keys.issuer },
    // The slot ends while the parents of the blocks are read.
    issuance: async () => {
      const issuance = await issuanceNow(store.read, parameters, { commitments, slot })
      clock.advance(10_000_000n)
      return issuance
    },
    ledger: () => state,
    slot,
    onAccepted: () => {},
    log: silentLog,
  })

  heartbeat.issue(term)
  await heartbeat.settled()
  expect(slot()).toBe(first + 1)
  heartbeat.issue(term)
  await heartbeat.settled()

  const blocks = await store.read.recentBlocks(10)
  expect(blocks.map((block) => [block.slot, block.kind]).reverse()).toEqual([
    [first, 'validation'],
    [first, 'candidacy'],
    [first + 1, 'validation'],
  ])
  await commitments.close()
})

test('the next term issues no second block in a slot that has any number of newer blocks of others', async () => {
  const plan = developmentGenesis(keys, startSeconds)
  const { parameters } = plan
  const { store, term } = use
  await store.write.initialize(term, runToCompletion(genesisSteps(plan)))
  const state = await loadLedgerState(store.read, parameters, stateMemoryOf(0))
  const commitments = await openCommitments({
    ...{ store, parameters, log: silentLog },
    isWriting: () => true,
  })
  const first = parameters.genesisSlot + 1
  const clock = createSettableClock(
    BigInt(slotEnd(parameters, first)) * 1_000_000_000n - 500_000_000n,
  )
  const slot = () => slotOfTime(parameters, clock.nowNs())
  const accountId = accountIdOfKey(keys.issuer)
  const openHeartbeat = () =>
    createHeartbeat({
      ...{ store, clock, slot, log: silentLog },
      network: networkOf(parameters),
      issuer: { accountId, key: keys.issuer },
      issuance: () => issuanceNow(store.read, parameters, { commitments, slot }),
      ledger: () => state,
      onAccepted: () => {},
    })
  const former = openHeartbeat()
  former.issue(term)
  await former.settled()
  const others = Array.from({ length: 1_000 }, (_, n) =>
    incomingBlock(n, { slot: first, issuingTime: clock.nowNs() + BigInt(n + 1) }),
  )
  await store.write.acceptBlocks(others)
  await store.write.releaseLease(term)
  const taken = await store.write.takeLease({ holder: 'next', ttlMs: 60_000 })
  const nextTerm = taken.ok ? taken.value.term : 0

  const next = openHeartbeat()
  next.issue(nextTerm)
  await next.settled()
  const ownVotes = async () =>
    (await store.read.recentBlocks(2_000)).filter(
      ({ issuerId, kind }) => issuerId === accountId && kind === 'validation',
    )
  expect((await ownVotes()).map((block) => block.slot)).toEqual([first])

  // The first process leads again, in the slot in which the other one has issued a block.
  clock.advance(BigInt(parameters.slotDurationInSeconds) * 1_000_000_000n)
  next.issue(nextTerm)
  await next.settled()
  await store.write.releaseLease(nextTerm)
  const again = await store.write.takeLease({ holder: 'former', ttlMs: 60_000 })
  former.issue(again.ok ? again.value.term : 0)
  await former.settled()
  expect((await ownVotes()).map((block) => block.slot).toSorted()).toEqual([first, first + 1])
  await commitments.close()
})

test('no block is issued under a commitment at which the account is in debt', async () => {
  const database = await defaultDatabase().create()
  const usual = developmentGenesis(keys, startSeconds)
  const accountId = accountIdOfKey(user(0))
  // Each block costs 110,000.
  const genesis = { ...usual, credits: new Map([[accountId, 250_000n]]) }
  const issuer = { accountId, key: user(0) }
  const ledger = await openEmbeddedLedger(database.url, { startSeconds, genesis, issuer })
  const { read } = ledger.at().store
  for (let slot = slotsBeforeStart - 2; slot <= slotsBeforeStart + 20; slot++) {
    await ledger.untilCommitted(slot)
    await until(async () => (await isIssued(read, slot + 3)) || (await isInDebt(read, accountId)))
    ledger.clock.advance(1_000_000_000n)
  }
  const blocks = await read.recentBlocks(100)
  expect(blocks.length).toBeGreaterThan(2)
  for (const { bytes } of blocks) {
    const { header } = decodeStored(Block, bytes)
    const entry = await read.accountEntry(accountId, slotOfId(header.slotCommitmentId))
    expect(entry?.credits).toBeGreaterThanOrEqual(0n)
  }
  await ledger.close()
  await database.remove()
})

async function isIssued(read: Store['read'], slot: number): Promise<boolean> {
  const [newest] = await read.recentBlocks(1)
  return (newest?.slot ?? 0) >= slot
}

async function isInDebt(read: Store['read'], accountId: AccountId): Promise<boolean> {
  const entry = await read.accountEntry(accountId)
  return (entry?.credits ?? 0n) < 0n
}
