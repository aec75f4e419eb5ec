import type { Hex } from '../lib/hex.ts'
import { chainIdOf, transactionOf } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, BasicOutput, type Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import { type ChainOutput, chainId, isImplicitAccount } from './chains.ts'

/** The states of chains. A state is an output, and ends when the next state or the end of the chain spends it. */

/** The type code of a chain's outputs. */
export type ChainKind = ChainOutput['type']

/** The kind and id of a chain. Chains of different kinds have different ids. */
export interface ChainName {
  readonly kind: ChainKind
  readonly chainId: Hex
}

/** The chain that an output is a state of; `undefined` for a basic output, unless it is an implicit account. */
export function chainOf(outputId: OutputId, output: Output): ChainName | undefined {
  const isBasic = is(BasicOutput, output)
  if (isBasic && !isImplicitAccount(output)) return undefined
  const kind = isBasic ? AccountOutput.code : output.type
  return { kind, chainId: chainId(output, outputId) }
}

/** A state of a chain, with the data that its order among the states depends on. */
export interface PlacedState extends ChainName {
  readonly outputId: OutputId
  readonly bookedSlot: SlotIndex
  readonly spentSlot: SlotIndex | undefined
  /** `undefined` if the output is unspent, or if an upstream node did not report the transaction. */
  readonly spentBy: TransactionId | undefined
}

/**
 * Sorts the states of one chain. A transaction moves a chain from one state to the next, so a slot may have many states. If the
 * spending transactions are unknown, the first state of the chain is first, the state that outlives the slot is last, and the others
 * are sorted by output id between them.
 */
export function inOrder<S extends PlacedState>(states: readonly S[]): S[] {
  const bySlot = Map.groupBy(states, ({ bookedSlot }) => bookedSlot)
  const slots = [...bySlot].sort(([a], [b]) => a - b)
  return slots.flatMap(([, ofSlot]) => (ofSlot.length === 1 ? ofSlot : inOrderOfSpending(ofSlot)))
}

function inOrderOfSpending<S extends PlacedState>(states: readonly S[]): S[] {
  const byTransaction = new Map(states.map((state) => [transactionOf(state.outputId), state]))
  const followers = new Set(states.map(({ spentBy }) => spentBy))
  const heads = states.filter(({ outputId }) => !followers.has(transactionOf(outputId)))
  const runs = heads.map((head) => {
    const run = [head]
    for (let last = head; last.spentBy !== undefined; ) {
      const next = byTransaction.get(last.spentBy)
      if (next === undefined) break
      run.push(next)
      last = next
    }
    return run
  })
  return runs.sort((a, b) => placeOf(a) - placeOf(b) || (firstId(a) < firstId(b) ? -1 : 1)).flat()
}

function placeOf(run: readonly PlacedState[]): number {
  const [first] = run
  if (first !== undefined && chainIdOf(first.outputId) === first.chainId) return 0
  const last = run.at(-1)
  return last?.spentSlot === last?.bookedSlot ? 1 : 2
}

function firstId([first]: readonly PlacedState[]): string {
  return first?.outputId ?? ''
}
