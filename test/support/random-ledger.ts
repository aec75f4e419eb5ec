import { compareLogEntries, logEntries } from '../../src/ledger/updates.ts'
import { Output } from '../../src/protocol/outputs.ts'
import type { SlotIndex } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import type { SlotCommit } from '../../src/store/contract.ts'
import type { ModelOutput } from './balance-model.ts'
import type { StoreInUse } from './databases.ts'
import { unwrap } from './log-store.ts'
import { createRandom, type Random } from './random.ts'
import { randomOutput } from './random-outputs.ts'
import {
  blockIdOf,
  booking,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from './store-rows.ts'

/** A store with randomly created and spent outputs, and a plain list of these outputs. */
export interface RandomLedger {
  readonly outputs: readonly ModelOutput[]
  /** The newest committed slot. */
  committed(): SlotIndex
  /** Creates and spends a few outputs in open slots. One booking may create and spend the same output. */
  book(): Promise<void>
  /** Commits the next one to three slots. */
  commit(): Promise<void>
}

/** The `minCommittableAge` of the parameters of test ledgers. */
export const minCommittableAge = 3

/** Initializes an empty store with a random ledger. */
export async function foundRandomLedger(use: StoreInUse, seed: number): Promise<RandomLedger> {
  const { store, term } = use
  const random = createRandom(seed)
  const outputs = Array.from({ length: 5 }, (_, n) => newOutput(random, n, 0))
  let committed = 0
  const genesis = { outputs: outputs.map(createdRow), commit: commitOf(0, outputs) }
  unwrap(await store.write.initialize(term, testGenesis(genesis)))

  async function book(): Promise<void> {
    const created = Array.from({ length: random.between(0, 4) }, (_, i) =>
      newOutput(random, outputs.length + i, committed + random.between(1, 4)),
    )
    outputs.push(...created)
    const unspent = outputs.flatMap(({ spentSlot }, i) => (spentSlot === undefined ? [i] : []))
    const spends = random.shuffled(unspent).slice(0, random.between(0, 3))
    const spent = spends.flatMap((i) => {
      const output = outputs[i]
      if (output === undefined) return []
      const spentSlot = Math.max(output.bookedSlot, committed + random.between(1, 4))
      outputs[i] = { ...output, spentSlot }
      return [{ outputId: output.outputId, spentSlot, spentBy: transactionIdOf(1) }]
    })
    unwrap(await store.write.book(term, booking({ created: created.map(createdRow), spent })))
  }

  async function commit(): Promise<void> {
    const count = random.between(1, 3)
    const slots = Array.from({ length: count }, (_, i) => commitOf(committed + 1 + i, outputs))
    unwrap(await store.write.closeSlots(term, committed + count))
    unwrap(await store.write.commitSlots(term, slots))
    committed += count
  }

  return { outputs, committed: () => committed, book, commit }
}

function newOutput(random: Random, n: number, bookedSlot: SlotIndex): ModelOutput {
  const output = randomOutput(random, bookedSlot + minCommittableAge, 8)
  return { outputId: outputIdOf(n), output, bookedSlot }
}

function createdRow({ outputId, output, bookedSlot }: ModelOutput) {
  return { outputId, bytes: encode(Output, output), blockId: blockIdOf(0), bookedSlot }
}

/** The commit of a slot with its log entries. */
function commitOf(slot: SlotIndex, outputs: readonly ModelOutput[]): SlotCommit {
  const entries = outputs.flatMap(({ outputId, output, bookedSlot, spentSlot }) => {
    const entriesOf = (isSpent: boolean) =>
      logEntries({ minCommittableAge }, { outputId, output, isSpent, slot })
    return [
      ...(bookedSlot === slot ? entriesOf(false) : []),
      ...(spentSlot === slot ? entriesOf(true) : []),
    ]
  })
  return slotCommit(slot, entries.sort(compareLogEntries))
}
