import type { Activity } from '../../src/ledger/activity.ts'
import type { Resolution } from '../../src/ledger/activity-buckets.ts'
import { failureReasonNumbers } from '../../src/ledger/failure-reasons.ts'
import { compareLogEntries, logEntries } from '../../src/ledger/updates.ts'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { Block } from '../../src/protocol/block.ts'
import { SlotCommitment } from '../../src/protocol/commitment.ts'
import { indexOf, transactionOf } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import type { BookedBlock, IncomingBlock, SlotCommit } from '../../src/store/contract.ts'
import { type ModelOutput, ownerInSlot } from './balance-model.ts'
import type { StoreInUse } from './databases.ts'
import { unwrap } from './log-store.ts'
import { createRandom, type Random } from './random.ts'
import { randomOutput } from './random-outputs.ts'
import {
  blockIdOf,
  bookedTransaction,
  booking,
  incomingBlock,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from './store-rows.ts'

/** Random slots of blocks and transactions. The model computes their activity by definition: it scans all rows for every bucket. */

/** A store with random slots. */
export interface ActivityLedger {
  /** The newest committed slot. */
  committed(): SlotIndex
  /** Fills the next slots and commits them in one call. */
  commit(slots: number): Promise<void>
  /** The activity of a bucket; `undefined` if no slot of it is committed. */
  activity(resolution: Resolution, bucket: number): Activity | undefined
  /** The buckets that have committed slots, in ascending order. */
  buckets(resolution: Resolution): number[]
  readonly transactions: readonly ModelTransaction[]
  /** All outputs, unspent and spent. */
  outputs(): ModelOutput[]
  /** The unspent outputs at the end of the newest slot. */
  unspent(): readonly ModelOutput[]
}

/** An accepted transaction with its inputs and outputs in their order. */
export interface ModelTransaction {
  readonly transactionId: TransactionId
  readonly slot: SlotIndex
  readonly inputs: readonly ModelOutput[]
  readonly outputs: readonly ModelOutput[]
}

interface ModelBlock {
  readonly slot: SlotIndex
  readonly size: number
  readonly workScore: number
}

/** Initializes an empty store with a ledger of the given parameters. */
export async function foundActivityLedger(
  use: Pick<StoreInUse, 'store' | 'term'>,
  seed: number,
  parameters: ProtocolParameters,
): Promise<ActivityLedger> {
  const { store, term } = use
  const { minCommittableAge, maxCommittableAge, genesisSlot } = parameters
  const random = createRandom(seed)
  const price = (slot: SlotIndex) => BigInt(slot % 7) * 10n ** 11n
  const blocks: ModelBlock[] = []
  const failures: SlotIndex[] = []
  let committed = genesisSlot
  let number = 0
  const genesis = transaction(random, { slot: genesisSlot, inputs: [] })
  const transactions: ModelTransaction[] = [genesis]
  let unspent = [...genesis.outputs]
  const outputById = new Map(genesis.outputs.map((output) => [output.outputId, output]))
  number++

  function transaction(
    from: Random,
    { slot, inputs }: { readonly slot: SlotIndex; readonly inputs: readonly ModelOutput[] },
  ): ModelTransaction {
    const outputs = Array.from({ length: from.between(1, 4) }, (_, i) => ({
      outputId: `${transactionIdOf(number)}0${i}00` as OutputId,
      output: randomOutput(from, slot + minCommittableAge, 8),
      bookedSlot: slot,
    }))
    const spent = inputs.map((one) => ({ ...one, spentSlot: slot }))
    return { transactionId: transactionIdOf(number), slot, inputs: spent, outputs }
  }

  async function fillSlot(slot: SlotIndex): Promise<void> {
    for (let n = random.between(0, 4); n > 0; n--, number++) {
      const what = random.between(0, 9)
      const block = incomingBlock(number, {
        slot,
        bytes: what > 4 ? new Uint8Array(random.between(1, 900)) : new Uint8Array(),
        kind: what === 9 ? 'validation' : 'basic',
        workScore: what === 9 ? 0 : random.between(1, 90_000),
        ...(what > 6 && { transactionId: undefined }),
      })
      if (what <= 4) {
        await accept(block, slot)
        continue
      }
      await store.write.acceptBlocks([block])
      if (what === 8) {
        const dropped = { blockId: block.blockId, state: 'DROPPED' } as const
        unwrap(await store.write.book(term, booking({ blocks: [dropped] })))
        continue
      }
      note(block)
      const verdict = { blockId: block.blockId, state: 'ACCEPTED' } as const
      if (what > 6) unwrap(await store.write.book(term, booking({ blocks: [verdict] })))
      else await fail(verdict, slot, what === 6)
    }
  }

  async function fail(verdict: BookedBlock, slot: SlotIndex, isOfCarrier: boolean): Promise<void> {
    const reason = isOfCarrier ? 'UNLOCK_SIGNATURE_INVALID' : 'INPUT_ALREADY_SPENT'
    const failureReason = failureReasonNumbers[reason]
    const failed = bookedTransaction(number, { slot, state: 'FAILED', failureReason })
    unwrap(await store.write.book(term, booking({ blocks: [verdict], transactions: [failed] })))
    if (!isOfCarrier) failures.push(slot)
  }

  function note({ slot, bytes, workScore }: IncomingBlock): void {
    blocks.push({ slot, size: bytes.length, workScore })
  }

  async function accept(draft: IncomingBlock, slot: SlotIndex): Promise<void> {
    unspent = random.shuffled(unspent)
    const made = transaction(random, { slot, inputs: unspent.splice(0, random.between(1, 3)) })
    const block = { ...draft, bytes: carrierOf(made, draft) }
    await store.write.acceptBlocks([block])
    note(block)
    transactions.push(made)
    unspent.push(...made.outputs)
    for (const input of made.inputs) outputById.set(input.outputId, input)
    for (const output of made.outputs) outputById.set(output.outputId, output)
    const spent = made.inputs.map(({ outputId }) => {
      return { outputId, spentSlot: slot, spentBy: made.transactionId }
    })
    const done = {
      blocks: [{ blockId: block.blockId, state: 'ACCEPTED' as const }],
      transactions: [bookedTransaction(number, { slot })],
      created: made.outputs.map(createdRow),
      spent,
    }
    unwrap(await store.write.book(term, booking(done)))
  }

  async function commit(count: number): Promise<void> {
    const slots = Array.from({ length: count }, (_, i) => committed + 1 + i)
    for (const slot of slots) await fillSlot(slot)
    unwrap(await store.write.closeSlots(term, committed + count))
    unwrap(await store.write.commitSlots(term, slots.map(commitOf)))
    committed += count
  }

  function commitOf(slot: SlotIndex): SlotCommit {
    const entries = transactions
      .filter((one) => one.slot === slot)
      .flatMap(({ inputs, outputs }) => [
        ...outputs.map((one) => ({ ...one, isSpent: false })),
        ...inputs.map((one) => ({ ...one, isSpent: true })),
      ])
      .flatMap((moment) => logEntries(parameters, { ...moment, slot }))
    const bytes = encode(SlotCommitment, {
      protocolVersion: 3,
      slot,
      previousCommitmentId: testId('CommitmentId', 36, slot - 1),
      rootsId: testId('Root', 32, slot),
      cumulativeWeight: 0n,
      referenceManaCost: price(slot),
    })
    return slotCommit(slot, entries.sort(compareLogEntries), { bytes })
  }

  unwrap(
    await store.write.initialize(
      term,
      testGenesis({
        network: {
          logId: '0x0102030405060708',
          parameters: encode(ProtocolParameters, parameters),
        },
        outputs: genesis.outputs.map(createdRow),
        accounts: [],
        commit: commitOf(genesisSlot),
      }),
    ),
  )

  /** The start of a slot in Unix seconds; the genesis slot has the start of the slot after it. */
  function beginningOf(slot: SlotIndex): number {
    const before = Math.max(slot - genesisSlot - 1, 0)
    return Number(parameters.genesisUnixTimestamp) + before * parameters.slotDurationInSeconds
  }

  function bucketOf(resolution: Resolution, slot: SlotIndex): number {
    if (resolution === 'SLOT') return slot
    if (resolution === 'EPOCH') {
      return Math.floor((slot - genesisSlot) / 2 ** parameters.slotsPerEpochExponent)
    }
    const seconds = { MINUTE: 60, HOUR: 60 * 60, DAY: 24 * 60 * 60 }[resolution]
    return Math.floor(beginningOf(slot) / seconds)
  }

  const slotsSoFar = () =>
    Array.from({ length: committed - genesisSlot + 1 }, (_, i) => genesisSlot + i)

  /** The owners of the outputs that a slot creates and spends. */
  function ownersIn(slot: SlotIndex): Set<Hex> {
    const moved = transactions.filter((one) => one.slot === slot)
    const outputs = moved.flatMap((one) => [...one.inputs, ...one.outputs])
    return new Set(outputs.map(({ output }) => ownerInSlot(output, slot, minCommittableAge)))
  }

  function activity(resolution: Resolution, bucket: number): Activity | undefined {
    const slots = slotsSoFar().filter((slot) => bucketOf(resolution, slot) === bucket)
    const [first] = slots
    if (first === undefined) return undefined
    const within = <T extends { readonly slot: SlotIndex }>(all: readonly T[]) =>
      all.filter(({ slot }) => slots.includes(slot))
    const inBucket = within(transactions)
    const addresses = new Set(slots.flatMap((slot) => [...ownersIn(slot)]))
    const before = slotsSoFar().filter((slot) => slot < first)
    const former = new Set(before.flatMap((slot) => [...ownersIn(slot)]))
    const rows = inBucket.flatMap(({ slot, inputs, outputs }) =>
      [...inputs, ...outputs].flatMap((one) =>
        logEntries(parameters, { ...one, isSpent: inputs.includes(one), slot }),
      ),
    )
    const burned = within(blocks).map(({ slot, workScore }) => {
      return BigInt(workScore) * price(Math.max(slot - maxCommittableAge, genesisSlot))
    })
    const sum = (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n)
    return {
      slots: slots.length,
      blocks: within(blocks).length,
      blockBytes: within(blocks).reduce((size, block) => size + block.size, 0),
      accepted: inBucket.filter((one) => one !== genesis).length,
      failed: failures.filter((slot) => slots.includes(slot)).length,
      updates: rows.length,
      moved: sum(inBucket.filter((one) => one !== genesis).map(movedBy)),
      burned: sum(burned),
      addresses: addresses.size,
      newAddresses: [...addresses].filter((one) => !former.has(one)).length,
    }
  }

  function movedBy({ slot, inputs, outputs }: ModelTransaction): bigint {
    const owner = ({ output }: ModelOutput) => ownerInSlot(output, slot, minCommittableAge)
    const senders = inputs.map(owner)
    const others = outputs.filter((one) => !senders.includes(owner(one)))
    return others.reduce((moved, { output }) => moved + output.amount, 0n)
  }

  return {
    committed: () => committed,
    commit,
    transactions,
    outputs: () => [...outputById.values()],
    activity,
    buckets: (resolution) => [...new Set(slotsSoFar().map((slot) => bucketOf(resolution, slot)))],
    unspent: () => unspent,
  }
}

function createdRow({ outputId, output, bookedSlot }: ModelOutput) {
  const bytes = encode(Output, output)
  return { outputId, bytes, blockId: blockIdOf(0), bookedSlot: present(bookedSlot, 'a slot') }
}

/** The bytes of a block that contains a transaction. Its signatures are invalid; no code under test verifies them. */
function carrierOf(
  { inputs, outputs, slot }: ModelTransaction,
  { issuerId, issuingTime }: IncomingBlock,
): Uint8Array {
  const transaction = {
    networkId: 1n,
    creationSlot: slot,
    contextInputs: [],
    inputs: inputs.map(({ outputId }) => ({
      type: 0 as const,
      transactionId: transactionOf(outputId),
      transactionOutputIndex: indexOf(outputId),
    })),
    allotments: [],
    capabilities: '0x' as const,
    payload: undefined,
    outputs: outputs.map(({ output }) => output),
  }
  const signature = {
    type: 0 as const,
    publicKey: testId('Key', 32, 0),
    signature: testId('Signature', 64, 0),
  }
  const unlocks = inputs.map(() => ({ type: 0 as const, signature }))
  return encode(Block, {
    header: {
      protocolVersion: 3,
      networkId: 1n,
      issuingTime,
      slotCommitmentId: testId('CommitmentId', 36, 0),
      latestFinalizedSlot: 0,
      issuerId,
    },
    body: {
      type: 0,
      strongParents: [blockIdOf(0)],
      weakParents: [],
      shallowLikeParents: [],
      payload: { type: 1, transaction, unlocks },
      maxBurnedMana: 0n,
    },
    signature,
  })
}
