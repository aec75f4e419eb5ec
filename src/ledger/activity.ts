import type { Hex } from '../lib/hex.ts'
import { createLargeMap } from '../lib/large-map.ts'
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

/** What happens in spans of time: what a slot adds to the counts of each span that it belongs to. */

/** What is counted. `undefined` where the ledger comes from a node that does not report it. */
export interface Activity {
  /** How many committed slots are counted. */
  readonly slots: number
  /** Accepted blocks, and their serialized bytes. */
  readonly blocks: number | undefined
  readonly blockBytes: number | undefined
  /** Accepted transactions without that of the genesis, and those that failed for good. */
  readonly accepted: number
  readonly failed: number | undefined
  /** Rows of the log over all addresses. */
  readonly updates: number
  /** Base tokens that went to addresses which owned no input of the same transaction. */
  readonly moved: bigint | undefined
  /** Mana that issuers were charged for their blocks. */
  readonly burned: bigint | undefined
  /** Addresses that owned an output when it was created or spent, each once; and those of them that never had before. */
  readonly addresses: number
  readonly newAddresses: number
}

/** The activity of a span. */
export interface ActivityBucket extends Activity {
  readonly resolution: Resolution
  readonly bucket: number
}

/** What is known of the blocks of a slot, and of the transactions that it judged. */
export type SlotBlockCounts = Pick<Activity, 'blocks' | 'blockBytes' | 'failed' | 'burned'>

/** A row of the log of the class OWNED, with the slot of the former one of its address. */
export interface OwnedMove {
  readonly address: Hex
  readonly outputId: OutputId
  readonly isSpent: boolean
  /** `undefined` where it is the first one of the address. */
  readonly formerSlot: SlotIndex | undefined
}

/** The moves of a slot, in the order of the log. */
export interface SlotMoves {
  readonly slot: SlotIndex
  /** How many rows of the log the slot has, of both classes. */
  readonly updates: number
  readonly owned: readonly OwnedMove[]
}

/** What is known beside the moves. */
export interface KnownOfSlot extends MovedOutputs {
  readonly counts: SlotBlockCounts
  /** The first slot of the ledger: its outputs were not moved by transactions. */
  readonly isGenesis: boolean
}

/** What is known of the outputs that some slots create and spend. */
export interface MovedOutputs {
  /** The base tokens of a created one. */
  readonly amountById: Pick<ReadonlyMap<OutputId, bigint>, 'get'>
  /** What spent one; `undefined` if the node did not report it. */
  readonly spenderById: Pick<ReadonlyMap<OutputId, TransactionId | undefined>, 'get'>
}

/** What a slot adds to each span that it belongs to. Linear in the moves. */
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
 * The transactions that created outputs, which is all of them, and what explorers of UTXO chains call transferred: their
 * outputs without the change. In the order of the log the outputs of a transaction come one after the other.
 */
function* transactionsIn(
  owned: readonly OwnedMove[],
  { amountById, spenderById }: MovedOutputs,
): Steps<Pick<Activity, 'accepted' | 'moved'>> {
  let isKnown = true
  const sendersById = createLargeMap<TransactionId, Set<Hex>>()
  yield* paused(owned, ({ outputId, address, isSpent }) => {
    if (!isSpent) return
    const spender = spenderById.get(outputId)
    if (spender === undefined) {
      isKnown = false
      return
    }
    const former = sendersById.get(spender)
    if (former === undefined) sendersById.set(spender, new Set([address]))
    else former.add(address)
  })
  let accepted = 0
  let moved = 0n
  let transactionId: TransactionId | undefined
  let senders: ReadonlySet<Hex> | undefined
  yield* paused(owned, ({ outputId, address, isSpent }) => {
    if (isSpent) return
    if (transactionId === undefined || !outputId.startsWith(transactionId)) {
      transactionId = transactionOf(outputId)
      senders = sendersById.get(transactionId)
      accepted++
    }
    if (senders?.has(address)) return
    const amount = amountById.get(outputId)
    if (amount === undefined) isKnown = false
    else moved += amount
  })
  return { accepted, moved: isKnown ? moved : undefined }
}

/** The sum of the activity of spans, one for each span; a sum with something unknown is unknown. */
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
