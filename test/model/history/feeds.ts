import type { BlockId, TransactionId } from '../../../src/protocol/primitives.ts'
import { playerOf } from '../../support/player.ts'
import { textOf } from '../answers/ask.ts'
import { updateFields, updateOf } from '../answers/updates.ts'
import type { Differences } from '../differences.ts'
import type { Model } from '../model.ts'
import { type FeedEvent, type Follower, startFollower } from './followers.ts'
import type { Records } from './records.ts'
import { type HistoryWorld, historyParameters } from './world.ts'

/** The subscriptions of a history: what each of them received must be exactly what the model has. */
export interface Feeds {
  /** Follows the state of a block and of its transaction. */
  watch(blockId: BlockId | undefined): void
  /** The number of changes of chain records received so far. */
  recordsSeen(): number
  compare(model: Model, records: Records, differ: Differences): Promise<void>
  /** Ends all subscriptions. */
  close(): Promise<void>
}

/** Subscribes to all updates, those of one player, milestones and chain records. */
export function openFeeds(world: HistoryWorld): Feeds {
  const { bech32Hrp, genesisSlot } = historyParameters
  const own = playerOf(0).addresses.map(({ pubKeyHash }) => `0x00${pubKeyHash.slice(2)}` as const)
  const named = own.map((key) => JSON.stringify(textOf(bech32Hrp, key))).join()
  const all = updatesOf('classes: [OWNED, MENTIONED]')
  const ofPlayer = updatesOf(`addresses: [${named}]`)
  const milestones = startFollower(world, {
    query: (last) => `subscription { milestones(after: ${last?.index ?? genesisSlot}) {
      index commitmentId updateCount blockCount transactionCount } }`,
  })
  const changes = startFollower(world, {
    query: (last) => `subscription { chainRecordChanged${after(last)} {
      cursor record { chainId version accessNodes isActive } } }`,
  })
  const blocks = new Map<BlockId, Follower>()

  function updatesOf(what: string): Follower {
    return startFollower(world, {
      query: (last) =>
        `subscription { ledgerUpdates(${what}, ${
          last === undefined ? `afterMilestone: ${genesisSlot}` : `after: "${last.cursor}"`
        }) { ... on LedgerUpdateBatch { cursor updates { ${updateFields} } } } }`,
      isKept: ({ updates }) => updates !== undefined,
    })
  }

  function watch(blockId: BlockId | undefined): void {
    if (blockId === undefined || blocks.has(blockId)) return
    const query = () => `subscription { blockState(id: "${blockId}") { state
      transaction { transactionId state } } }`
    blocks.set(blockId, startFollower(world, { query }))
  }

  async function compare(model: Model, records: Records, differ: Differences): Promise<void> {
    const { committed, commitments } = model.ledger
    await compareUpdates(all, () => true, 'all updates')
    const isOwn = new Set<string>(own)
    const ofOwner = (row: Model['rows'][number]) => row.class === 'OWNED' && isOwn.has(row.address)
    await compareUpdates(ofPlayer, ofOwner, 'the updates of a player')
    await milestones.end(({ index }) => index === committed)
    differ.equal(
      'the feed of milestones',
      milestones.events.map(({ index, commitmentId }) => [index, commitmentId]),
      [...commitments].filter(([slot]) => slot > genesisSlot).map(([slot, { id }]) => [slot, id]),
    )
    await compareRecords(changes, records, differ)
    for (const [blockId, follower] of blocks) await compareStates(blockId, follower)

    async function compareUpdates(
      follower: Follower,
      isFollowed: (row: Model['rows'][number]) => boolean,
      what: string,
    ): Promise<void> {
      const rows = model.rows.filter((row) => row.milestoneIndex > genesisSlot && isFollowed(row))
      const last = `${rows.at(-1)?.seq}`
      await follower.end(({ updates }) => updates.at(-1)?.seq === last)
      const received = follower.events.flatMap(({ updates }) => updates)
      const expected = rows.map((row) => updateOf(model, row))
      differ.equal(`the number of rows in the feed of ${what}`, received.length, expected.length)
      for (const [i, row] of received.entries())
        differ.equal(`the feed of ${what}`, row, expected[i])
    }

    async function compareStates(blockId: BlockId, follower: Follower): Promise<void> {
      await follower.end(({ state }) => state === 'FINALIZED')
      const ranks = follower.events.map(({ state }) => ranked.indexOf(state))
      const sorted = ranks.toSorted((a, b) => a - b)
      differ.equal(`the states of block ${blockId} in their order`, ranks, sorted)
      const { transaction } = follower.events.at(-1)
      const id: TransactionId | undefined = transaction?.transactionId
      if (id === undefined) return
      const verdict = model.verdicts.get(id)?.state ?? 'FAILED'
      const state = verdict === 'ACCEPTED' ? 'FINALIZED' : verdict
      differ.equal(`the last state of transaction ${id}`, transaction.state, state)
    }
  }

  async function close(): Promise<void> {
    const followers = [all, ofPlayer, milestones, changes, ...blocks.values()]
    await Promise.all(followers.map((follower) => follower.close()))
  }

  return { watch, recordsSeen: () => changes.events.length, compare, close }
}

const ranked = ['PENDING', 'ACCEPTED', 'CONFIRMED', 'FINALIZED']

function after(last: FeedEvent | undefined): string {
  return last === undefined ? '' : `(after: "${last.cursor}")`
}

/** Expects all versions of each chain from the first received one on, in their order. */
async function compareRecords(
  changes: Follower,
  records: Records,
  differ: Differences,
): Promise<void> {
  const received = () => changes.events.map(({ record }) => record)
  const [chain, versions] = [...records.versionsByChain].at(-1) ?? ['', []]
  await changes.end(({ record }) => record.chainId === chain && record.version === versions.length)
  for (const [chainId, all] of records.versionsByChain) {
    const own = received().filter((record) => record.chainId === chainId)
    const first = own[0]?.version ?? 1
    const expected = all
      .map((record, i) => ({ chainId, version: i + 1, ...record }))
      .slice(first - 1)
    differ.equal(`the feed of the record of ${chainId}`, own, expected)
  }
}
