import { holdingAt } from '../../ledger/holdings.ts'
import { manaOfOutput } from '../../ledger/mana-of-output.ts'
import { storedManaOf } from '../../ledger/output-parts.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { isTurnOver, nextTurn } from '../../lib/turns.ts'
import { creationSlotOf } from '../../protocol/ids.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { OutputPosition } from '../../store/contract/view.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** The mana of an address, computed from its unspent outputs (ledger reference 7). */

/** Maximum number of outputs for which mana is computed. */
export const manaOutputLimit = 10_000

/** The mana of an address at the end of a committed slot, or the reason why it was not computed. */
export type ManaOfAddress =
  | { readonly slot: SlotIndex; readonly total: ManaSum; readonly available: ManaSum }
  /** The address has more outputs than `manaOutputLimit`. */
  | { readonly reason: 'TOO_MANY_OUTPUTS' }
  /** Slots were committed faster than the outputs were read. */
  | { readonly reason: 'LEDGER_MOVED' }

/** The mana of some outputs. */
export interface ManaSum {
  /** Stored mana as written in the outputs: of different slots and without decay. */
  readonly written: bigint
  /** Stored mana after decay. */
  readonly stored: bigint
  /** Mana that the base tokens have generated since their outputs were created. */
  readonly potential: bigint
}

/**
 * Computes the mana of all outputs that an address owns, and of the outputs that it may spend now. Linear in the number of
 * outputs. Rejects with the reason of `signal` when that fires.
 */
export async function manaOfAddress(
  deps: Pick<Services, 'store' | 'source'>,
  address: Hex,
  signal?: AbortSignal,
): Promise<ManaOfAddress> {
  const { read } = deps.store
  // The outputs are read page by page: the pages are consistent only if no slot was committed between them.
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { slot, balance } = await read.balance(address)
    if (balance.outputs > manaOutputLimit) return { reason: 'TOO_MANY_OUTPUTS' }
    const sums = await sumUp(deps, { address, slot, signal })
    if ((await read.latestMilestone()).slot === slot) return { slot, ...sums }
  }
  return { reason: 'LEDGER_MOVED' }
}

const attempts = 5
const outputsPerRead = 1_000

interface Sum {
  readonly address: Hex
  readonly slot: SlotIndex
  readonly signal: AbortSignal | undefined
}

async function sumUp(
  { store, source }: Pick<Services, 'store' | 'source'>,
  { address, slot, signal }: Sum,
): Promise<{ readonly total: ManaSum; readonly available: ManaSum }> {
  const filter = { asOf: 'COMMITTED', heldBy: address } as const
  let [total, available] = [noMana, noMana]
  for (let after: OutputPosition | undefined; ; ) {
    signal?.throwIfAborted()
    const rows = await store.read.unspentOutputs({ filter, after, limit: outputsPerRead })
    for (const view of rows.map(viewOfOutput)) {
      // A response may need the mana of many addresses.
      if (isTurnOver()) {
        await nextTurn()
        signal?.throwIfAborted()
      }
      const { mana, isAvailable } = manaOf(source.network.parameters, view, slot)
      total = add(total, mana)
      if (isAvailable) available = add(available, mana)
    }
    after = rows.at(-1)
    if (rows.length < outputsPerRead) return { total, available }
    await nextTurn()
  }
}

function manaOf(
  parameters: ProtocolParameters,
  view: OutputView,
  slot: SlotIndex,
): { readonly mana: ManaSum; readonly isAvailable: boolean } {
  const output = view.output()
  const creationSlot = creationSlotOf(view.outputId)
  const held = manaOfOutput(parameters, { output, creationSlot }, slot)
  const mana = present(held.ok ? held.value : undefined, 'mana of an output that is older')
  const holding = holdingAt(output, slot + parameters.minCommittableAge)
  return {
    mana: { written: storedManaOf(output), ...mana },
    isAvailable: holding.timelocked === 0n && holding.expiring === 0n,
  }
}

const noMana: ManaSum = { written: 0n, stored: 0n, potential: 0n }

function add(a: ManaSum, b: ManaSum): ManaSum {
  return {
    written: a.written + b.written,
    stored: a.stored + b.stored,
    potential: a.potential + b.potential,
  }
}
