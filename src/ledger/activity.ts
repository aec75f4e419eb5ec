import type { Hex } from '../lib/hex.ts'
import { createPackedMap } from '../lib/packed-map.ts'
import { paused, type Steps } from '../lib/turns.ts'
import { transactionOf } from '../protocol/ids.ts'
import type { OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { TimeParameters } from '../protocol/slots.ts'
import {
  bucketOfSlot,
  firstSlotOfBucket,
  type Resolution,
  resolutions,
} from './activity-buckets.ts'

/** Counts the activity in spans of time: computes the counts that a slot adds to each span that contains it. */

/** The counts. A count is `undefined` if the ledger comes from a node that does not report it. */
export interface Activity {
  /** Number of committed slots. */
  readonly slots: number
  /** Number of accepted blocks. */
  readonly blocks: number | undefined
  /** Serialized bytes of the accepted blocks. */
  readonly blockBytes: number | undefined
  /** Number of accepted transactions, without the transactions of the genesis. */
  readonly accepted: number
  /** Number of transactions that failed finally. */
  readonly failed: number | undefined
  /** Number of log rows of all addresses. */
  readonly updates: number
  /** Base tokens that went to addresses without an owned input in the same transaction. */
  readonly moved: bigint | undefined
  /** Mana that issuers were charged for their blocks. */
  readonly burned: bigint | undefined
  /** Number of distinct addresses that owned an output when it was created or spent. */
  readonly addresses: number
  /** Number of those addresses without an earlier OWNED row. */
  readonly newAddresses: number
}

export interface ActivityBucket extends Activity {
  readonly resolution: Resolution
  readonly bucket: number
}

/** The counts of a slot that come from its blocks and judged transactions. */
export type SlotBlockCounts = Pick<Activity, 'blocks' | 'blockBytes' | 'failed' | 'burned'>

/** A log row of the class OWNED, with the slot of the previous OWNED row of its address. */
export interface OwnedMove {
  readonly address: Hex
  readonly outputId: OutputId
  readonly isSpent: boolean
  /** `undefined` if the row is the first one of the address. */
  readonly formerSlot: SlotIndex | undefined
}

/** The moves of a slot, in log order. */
export interface SlotMoves {
  readonly slot: SlotIndex
  /** Number of log rows of the slot, of both classes. */
  readonly updates: number
  readonly owned: Iterable<OwnedMove>
}

/** The data of a slot in addition to its moves. */
export interface KnownOfSlot extends MovedOutputs {
  readonly counts: SlotBlockCounts
  /** Whether the slot is the genesis slot, whose outputs were not moved by transactions. */
  readonly isGenesis: boolean
}

/** The amounts and spenders of the outputs that some slots create and spend. */
export interface MovedOutputs {
  /** The base tokens of a created output. */
  readonly amountById: Pick<ReadonlyMap<OutputId, bigint>, 'get'>
  /** The transaction that spent an output; `undefined` if the node did not report it. */
  readonly spenderById: Pick<ReadonlyMap<OutputId, TransactionId | undefined>, 'get'>
}

/** The counts that a slot adds to each span that contains it. Linear in the moves. */
export function* activityOfSlot(
  parameters: TimeParameters,
  { slot, updates, owned }: SlotMoves,
  { counts, isGenesis, ...outputs }: KnownOfSlot,
): Steps<ActivityBucket[]> {
  const { accepted, moved } = isGenesis ? noTransactions : yield* transactionsIn(owned, outputs)
  const spans = resolutions.map((resolution) => {
    const bucket = bucketOfSlot(parameters, resolution, slot)
    return { resolution, bucket, first: firstSlotOfBucket(parameters, resolution, bucket) }
  })
  const addresses = spans.map(() => 0)
  let newAddresses = 0
  yield* paused(owned, ({ formerSlot = -1 }) => {
    if (formerSlot === -1) newAddresses++
    for (const [i, { first }] of spans.entries()) {
      if (formerSlot < first) addresses[i] = (addresses[i] ?? 0) + 1
    }
  })
  return spans.map(({ resolution, bucket }, i) => {
    const counted = { slots: 1, accepted, updates, moved, newAddresses }
    return { resolution, bucket, ...counts, ...counted, addresses: addresses[i] ?? 0 }
  })
}

const noTransactions = { accepted: 0, moved: 0n }

/**
 * Counts the transactions by their created outputs, and sums the transferred base tokens: the outputs without the change. Every
 * transaction creates outputs. In log order the outputs of a transaction are adjacent.
 */
function* transactionsIn(
  owned: Iterable<OwnedMove>,
  { amountById, spenderById }: MovedOutputs,
): Steps<Pick<Activity, 'accepted' | 'moved'>> {
  let isKnown = true
  const senders = createPackedMap()
  yield* paused(owned, ({ outputId, address, isSpent }) => {
    if (!isSpent) return
    const spender = spenderById.get(outputId)
    if (spender === undefined) isKnown = false
    else senders.set(senderKey(spender, address), 1n)
  })
  let accepted = 0
  let moved = 0n
  let transactionId: TransactionId | undefined
  yield* paused(owned, ({ outputId, address, isSpent }) => {
    if (isSpent) return
    if (transactionId === undefined || !outputId.startsWith(transactionId)) {
      transactionId = transactionOf(outputId)
      accepted++
    }
    if (senders.get(senderKey(transactionId, address)) !== undefined) return
    const amount = amountById.get(outputId)
    if (amount === undefined) isKnown = false
    else moved += amount
  })
  return { accepted, moved: isKnown ? moved : undefined }
}

function senderKey(transactionId: TransactionId, address: Hex): Hex {
  return `${transactionId as Hex}${address.slice(2)}`
}

/** Sums the activity per span. A sum with an unknown count is unknown. */
export function sumActivity(parts: Iterable<ActivityBucket>): ActivityBucket[] {
  const sums = new Map<string, ActivityBucket>()
  for (const part of parts) {
    const key = `${part.resolution} ${part.bucket}`
    const former = sums.get(key)
    sums.set(key, former === undefined ? part : { ...part, ...added(former, part) })
  }
  return [...sums.values()]
}

function added(a: Activity, b: Activity): Activity {
  const number = (x: number | undefined, y: number | undefined) =>
    x === undefined || y === undefined ? undefined : x + y
  const amount = (x: bigint | undefined, y: bigint | undefined) =>
    x === undefined || y === undefined ? undefined : x + y
  return {
    slots: a.slots + b.slots,
    blocks: number(a.blocks, b.blocks),
    blockBytes: number(a.blockBytes, b.blockBytes),
    accepted: a.accepted + b.accepted,
    failed: number(a.failed, b.failed),
    updates: a.updates + b.updates,
    moved: amount(a.moved, b.moved),
    burned: amount(a.burned, b.burned),
    addresses: a.addresses + b.addresses,
    newAddresses: a.newAddresses + b.newAddresses,
  }
}
