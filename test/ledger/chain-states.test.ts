import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inOrder, type PlacedState } from '../../src/ledger/chain-states.ts'
import { chainIdOf, outputId, transactionOf } from '../../src/protocol/ids.ts'
import { transactionIdOf } from '../support/store-rows.ts'

/** Returns a chain with a given number of states in each slot, from its beginning on; the last state is unspent. */
function chainOf(counts: readonly number[]): PlacedState[] {
  const slots = counts.flatMap((count, slot) => Array.from({ length: count }, () => slot))
  const ids = slots.map((_, n) => outputId(transactionIdOf(n), 0))
  const [first] = ids
  const chainId = chainIdOf(first ?? outputId(transactionIdOf(0), 0))
  return ids.map((id, n) => {
    const next = ids[n + 1]
    return {
      ...{ kind: 4, chainId, outputId: id, bookedSlot: slots[n] ?? 0, spentSlot: slots[n + 1] },
      spentBy: next && transactionOf(next),
    }
  })
}

const anyChain = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 }).map(chainOf)
const shuffled = <T>(list: readonly T[]) =>
  fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length })

test('states are sorted so that each spends the previous one', () => {
  const cases = anyChain.chain((chain) => fc.tuple(fc.constant(chain), shuffled(chain)))
  fc.assert(
    fc.property(cases, ([chain, mixed]) => {
      expect(inOrder(mixed)).toEqual(chain)
    }),
  )
})

test('without their spenders, the first state, the last one, and states of other slots are in the right position', () => {
  const cases = anyChain.chain((chain) => fc.tuple(fc.constant(chain), shuffled(chain)))
  fc.assert(
    fc.property(cases, ([chain, mixed]) => {
      const ordered = inOrder(mixed.map((state) => ({ ...state, spentBy: undefined })))
      const ids = (list: readonly PlacedState[]) => list.map((one) => one.outputId)
      expect(ids(ordered).sort()).toEqual(ids(chain).sort())
      expect(ordered.map(({ bookedSlot }) => bookedSlot)).toEqual(
        chain.map(({ bookedSlot }) => bookedSlot),
      )
      chain.forEach(({ outputId: id, bookedSlot, spentSlot }, n) => {
        const isCertain = n === 0 || spentSlot !== bookedSlot
        if (isCertain) expect(ordered[n]?.outputId).toBe(id)
      })
    }),
  )
})
