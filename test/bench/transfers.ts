import type { Hex } from '../../src/lib/hex.ts'
import { BasicOutput } from '../../src/protocol/outputs.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import type { TrieChanges } from '../../src/store/contract/trie.ts'
import type { CreatedOutput, Store } from '../../src/store/contract.ts'
import type { LogEntry } from '../../src/store/rows.ts'
import {
  blockIdOf,
  bookedTransaction,
  booking,
  createdOutput,
  incomingBlock,
  slotCommit,
  transactionIdOf,
} from '../support/store-rows.ts'
import { addressesFor, addressOf } from './large-log.ts'

/** Slots of transfers, for benchmarks of commits. */

/** The transfers per slot. Each spends an output of the former slot and creates two. */
export const transfers = 1_000

/** The number of owners of the outputs, by the number of rows of the log. */
const populations = {
  /** As many owners as in a small log. */
  few: () => 1_000,
  /** So many owners that few of them appear twice in a slot. */
  many: addressesFor,
} as const

/** The name of a number of owners. */
export type Population = keyof typeof populations

/** Creates the contents of successive slots. */
export type Transfers = ReturnType<typeof createTransfers>

/** Creates transfers for a log of `size` rows, `count` per slot. */
export function createTransfers(size: number, population: Population, count = transfers) {
  const owners = populations[population](size)
  let former: readonly (readonly [CreatedOutput, Hex])[] = []

  function next(slot: number) {
    const numbers = Array.from({ length: count }, (_, i) => Math.max(10_000, count) * slot + i)
    const created = numbers.flatMap((n) =>
      [2 * n, 2 * n + 1].map((output) => outputOf(output, slot)),
    )
    const spent = former.slice(0, count)
    former = created
    return {
      incoming: numbers.map((n) => incomingBlock(n, { slot })),
      booking: booking({
        blocks: numbers.map((n) => ({ blockId: blockIdOf(n), state: 'ACCEPTED' })),
        transactions: numbers.map((n) => bookedTransaction(n, { slot })),
        created: created.map(([output]) => output),
        spent: spent.map(([{ outputId }], i) => {
          return { outputId, spentSlot: slot, spentBy: transactionIdOf(numbers[i] ?? 0) }
        }),
      }),
      entries: [
        ...spent.map(([{ outputId }, address]) => entryOf(outputId, address, true)),
        ...created.map(([{ outputId }, address]) => entryOf(outputId, address, false)),
      ],
    }
  }

  function outputOf(n: number, slot: number): readonly [CreatedOutput, Hex] {
    const address = addressOf(1 + Math.floor(Math.random() * owners))
    const owner = { type: 0, pubKeyHash: `0x${address.slice(4)}` } as const
    const unlockConditions = [{ type: 0, address: owner }] as const
    const output = { type: 0, amount: 1_000n, mana: 0n, unlockConditions, features: [] } as const
    return [createdOutput(n, { bookedSlot: slot, bytes: encode(BasicOutput, output) }), address]
  }

  return { next }
}

function entryOf(outputId: OutputId, address: Hex, isSpent: boolean): LogEntry {
  return { address, class: 'OWNED', roles: ['OWNER'], outputId, isSpent }
}

/** A slot that is closed and booked, but not committed. */
export interface BookedSlot {
  /** The number of its log rows. */
  readonly rows: number
  /** The outputs that the slot creates and consumes. */
  readonly outputIds: {
    readonly created: readonly OutputId[]
    readonly consumed: readonly OutputId[]
  }
  commit(tries?: TrieChanges): Promise<void>
}

/** Books the next slot. */
export async function bookSlot(
  { store, term }: { readonly store: Store; readonly term: number },
  source: Transfers,
): Promise<BookedSlot> {
  const slot = (await store.read.logTip()).slot + 1
  const { incoming, booking: booked, entries } = source.next(slot)
  await store.write.acceptBlocks(incoming)
  unwrap(await store.write.closeSlots(term, slot))
  unwrap(await store.write.book(term, booked))
  return {
    rows: entries.length,
    outputIds: {
      created: booked.created.map(({ outputId }) => outputId),
      consumed: booked.spent.map(({ outputId }) => outputId),
    },
    commit: async (tries) => {
      unwrap(await store.write.commitSlots(term, [slotCommit(slot, entries)], tries))
    },
  }
}

/** Returns the value of a result; throws on an error. */
export function unwrap<T>(
  result: { ok: true; value: T } | { ok: false; error: { code: string } },
): T {
  if (!result.ok) throw new Error(result.error.code)
  return result.value
}
