import { grouped } from '../lib/grouped.ts'
import type { Hex } from '../lib/hex.ts'
import { chainIdOf, transactionOf } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, BasicOutput, type Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import { type ChainOutput, chainId, isImplicitAccount } from './chains.ts'

/** The states of chains: each is an output, and ends with the next one or with the chain. */

/** The type code of a chain's outputs. */
export type ChainKind = ChainOutput['type']

/** A chain by its id, which no chain of another kind has. */
export interface ChainName {
  readonly kind: ChainKind
  readonly chainId: Hex
}

/** The chain that an output is a state of; `undefined` for a basic output, unless that is an account to be. */
export function chainOf(outputId: OutputId, output: Output): ChainName | undefined {
  const isBasic = is(BasicOutput, output)
  if (isBasic && !isImplicitAccount(output)) return undefined
  const kind = isBasic ? AccountOutput.code : output.type
  return { kind, chainId: chainId(output, outputId) }
}

/** A state of a chain as far as its place among the others goes. */
export interface PlacedState extends ChainName {
  readonly outputId: OutputId
  readonly bookedSlot: SlotIndex
  readonly spentSlot: SlotIndex | undefined
  /** `undefined` if it is unspent, and where an upstream node did not report it. */
  readonly spentBy: TransactionId | undefined
}

/**
 * The states of one chain in their order. A transaction takes a chain from one state to the next, so a slot may have many of
 * them. Where it is not known what spent them, the one that begins the chain comes first, the one that outlives the slot
 * last, and the others between them by their ids.
 */
export function inOrder<S extends PlacedState>(states: readonly S[]): S[] {
  const bySlot = grouped(states, ({ bookedSlot }) => bookedSlot)
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
