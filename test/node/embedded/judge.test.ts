import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BookedOutput,
  type Candidate,
  type Effects,
  judge,
  type LedgerBefore,
} from '../../../src/node/embedded/judge.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { BlockId } from '../../../src/protocol/primitives.ts'
import { decode } from '../../../src/protocol/schema/schema.ts'
import { parsed } from '../../support/parsed.ts'
import { runs } from '../../support/runs.ts'
import { semanticParameters } from '../../support/semantic-parameters.ts'
import { firstOutputs, transferPlans, transfersOf } from '../../support/transfers.ts'

const parameters = semanticParameters('standard')

describe('a batch', () => {
  test('booked in one go is the same as its parts one after the other', () => {
    const cuts = fc.uniqueArray(fc.nat(12))
    fc.assert(
      fc.property(transferPlans, cuts, (plans, places) => {
        const candidates = candidatesOf(plans)
        const whole = judge(ledger(), candidates)
        let before = ledger()
        const parts: Effects[] = []
        for (const part of cutAt(candidates, places)) {
          const effects = judge(before, part)
          parts.push(effects)
          before = after(before, effects)
        }
        expect({
          transactions: parts.flatMap(({ transactions }) => transactions),
          created: parts.flatMap(({ created }) => created),
          spent: parts.flatMap(({ spent }) => spent),
        }).toEqual({
          transactions: whole.transactions,
          created: whole.created,
          spent: whole.spent,
        })
      }),
      runs(200),
    )
  })

  test('of two spenders of one output leaves exactly one, in any order of arrival', () => {
    const rivals = [
      { spends: [0], pieces: 1 },
      { spends: [0, 1], pieces: 2 },
    ]
    const [first, second] = candidatesOf(rivals)
    if (first === undefined || second === undefined) throw new Error('no rivals')
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      const { transactions } = judge(ledger(), order)
      expect(transactions.map(({ state }) => state)).toEqual(['ACCEPTED', 'FAILED'])
    }
  })

  test('never spends an output twice, whatever the order', () => {
    fc.assert(
      fc.property(
        transferPlans.chain((plans) =>
          fc.shuffledSubarray(candidatesOf(plans), { minLength: plans.length }),
        ),
        (candidates) => {
          const spent = judge(ledger(), candidates).spent.map(({ outputId }) => outputId)
          expect(new Set(spent).size).toBe(spent.length)
        },
      ),
      runs(200),
    )
  })
})

function candidatesOf(plans: Parameters<typeof transfersOf>[0]): Candidate[] {
  return transfersOf(plans).map((prepared, index) => ({
    blockId: parsed(BlockId, `0x${index.toString(16).padStart(64, '0')}07000000`),
    inbox: index,
    slot: 7,
    prepared,
  }))
}

function cutAt(candidates: readonly Candidate[], places: readonly number[]): Candidate[][] {
  const ends = [...places, candidates.length].sort((a, b) => a - b)
  return ends.map((end, index) => candidates.slice(ends[index - 1] ?? 0, end))
}

function ledger(): LedgerBefore {
  const outputById = new Map<OutputId, BookedOutput>()
  for (const [id, output] of firstOutputs) {
    outputById.set(id, { output, spentIn: undefined, bookedSlot: 5 })
  }
  return {
    parameters,
    outputById,
    creditsAt: () => undefined,
    rewardAt: () => ({ ok: true, value: 0n }),
    isCommitmentKnown: () => true,
  }
}

/** The ledger once the effects are written, as the next batch reads it. */
function after(before: LedgerBefore, { created, spent }: Effects): LedgerBefore {
  const outputById = new Map(before.outputById)
  for (const { outputId, bytes, bookedSlot } of created) {
    const output = decode(Output, bytes)
    if (!output.ok) throw new Error(output.error.code)
    outputById.set(outputId, { output: output.value, spentIn: undefined, bookedSlot })
  }
  for (const { outputId } of spent) {
    const known = outputById.get(outputId)
    if (known !== undefined) outputById.set(outputId, { ...known, spentIn: 'ACCEPTED' })
  }
  return { ...before, outputById }
}
