import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isOfCarrier } from '../../../src/ledger/failure-reasons.ts'
import { present } from '../../../src/lib/assert.ts'
import type { Candidate } from '../../../src/node/embedded/carrier-queue.ts'
import {
  type BookedOutput,
  type Effects,
  judge,
  type LedgerBefore,
  type StoredWaiters,
} from '../../../src/node/embedded/judge.ts'
import type { PreparedTransaction } from '../../../src/node/prepared-transaction.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { OutputId, TransactionId } from '../../../src/protocol/primitives.ts'
import { BlockId } from '../../../src/protocol/primitives.ts'
import { decode } from '../../../src/protocol/schema/schema.ts'
import type { BookedTransaction } from '../../../src/store/contract.ts'
import { parsed } from '../../support/parsed.ts'
import { runs } from '../../support/runs.ts'
import { semanticParameters } from '../../support/semantic-parameters.ts'
import { firstOutputs, transferPlans, transfersOf } from '../../support/transfers.ts'

const parameters = semanticParameters('standard')

/** Carriers in the order of their arrival: one valid carrier of each transaction, and sometimes an invalid one. */
const arrivals = fc
  .tuple(transferPlans, fc.array(fc.nat(11), { maxLength: 4 }), fc.infiniteStream(fc.nat()))
  .map(([plans, invalid, keys]) => {
    const valid = transfersOf(plans)
    const spoiled = invalid.map((n) => ({ ...at(valid, n), isSignatureValid: () => false }))
    const order = keys[Symbol.iterator]()
    const places = new Map([...valid, ...spoiled].map((one) => [one, Number(order.next().value)]))
    const sorted = [...places.keys()].sort((x, y) => (places.get(x) ?? 0) - (places.get(y) ?? 0))
    return sorted.map(candidateOf)
  })
const cuts = fc.uniqueArray(fc.nat(16))

describe('a batch', () => {
  test('has the same result as its parts one after the other, in any order', () => {
    fc.assert(
      fc.property(arrivals, cuts, fc.nat(2), (candidates, places, loads) => {
        const whole = bookAll(candidates, { parts: [candidates], loads: 99 })
        const parts = bookAll(candidates, { parts: cutAt(candidates, places), loads })
        expect(parts.verdicts).toEqual(whole.verdicts)
        expect(parts.outputs).toEqual(whole.outputs)
        expect(parts.waiting).toEqual(whole.waiting)
      }),
      runs(300),
    )
  })

  test('accepts a transaction with some invalid carriers as if these had not arrived', () => {
    fc.assert(
      fc.property(arrivals, (candidates) => {
        const valid = candidates.filter(isValid)
        const all = bookAll(candidates, { parts: [candidates], loads: 0 })
        const without = bookAll(valid, { parts: [valid], loads: 0 })
        expect(acceptedOf(all)).toEqual(acceptedOf(without))
      }),
      runs(200),
    )
  })

  test('accepts exactly one of two spenders of one output, in any order of arrival', () => {
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

  test('never spends an output twice, in any order', () => {
    fc.assert(
      fc.property(arrivals, (candidates) => {
        const spent = judge(ledger(), candidates).spent.map(({ outputId }) => outputId)
        expect(new Set(spent).size).toBe(spent.length)
      }),
      runs(200),
    )
  })

  test('judges the earliest waiting carrier first, and before later arrivals', () => {
    const [parent, first, second] = candidatesOf([
      { spends: [0], pieces: 1 },
      { spends: [3], pieces: 1 },
      { spends: [3], pieces: 2 },
    ]).map(({ prepared }) => prepared)
    const arrived = [second, parent, first].map((prepared, i) =>
      candidateOf(prepared ?? at([], 0), i),
    )
    const { transactions } = judge(ledger(), arrived)
    const verdicts = transactions.map(({ transactionId, state, failureReason }) => [
      arrived.findIndex(({ prepared }) => prepared.identity.transactionId === transactionId),
      state,
      failureReason,
    ])
    expect(verdicts).toEqual([
      [1, 'ACCEPTED', undefined],
      [0, 'ACCEPTED', undefined],
      [2, 'FAILED', 1],
    ])
  })
})

/** The result of booking some carriers. */
interface Booked {
  readonly verdicts: ReadonlyMap<TransactionId, BookedTransaction>
  readonly outputs: LedgerBefore['outputById']
  /** The blocks that still wait at the end. */
  readonly waiting: readonly BlockId[]
}

/** Books part by part as the gateway does. The number of waiting carriers that it loads at once is so small that some batches are cut. */
function bookAll(
  candidates: readonly Candidate[],
  { parts, loads }: { parts: readonly (readonly Candidate[])[]; loads: number },
): Booked {
  const byInbox = new Map(candidates.map((candidate) => [candidate.inbox, candidate]))
  const verdicts = new Map<TransactionId, BookedTransaction>()
  const waiting = new Map<number, Set<TransactionId>>()
  let before = ledger()
  for (const part of parts) {
    let rest = [...part]
    for (;;) {
      const released = [...waiting]
        .filter(([, awaits]) => awaits.size === 0)
        .map(([inbox]) => inbox)
      const next = released.length > 0 ? released.sort((a, b) => a - b).map(carrierAt) : rest
      if (next.length === 0) break
      const isOpen = ({ prepared }: Candidate) =>
        isOpenVerdict(verdicts.get(prepared.identity.transactionId))
      const stored = storedOf(waiting, carrierAt, { loads, isOpen })
      const effects = judge(before, next.filter(isOpen), stored)
      const { judged, isCut, transactions } = effects
      // The number of carriers that failed at once depends on where a batch ends, and the store adds these numbers up.
      for (const { judgedCarriers: _, ...verdict } of transactions)
        verdicts.set(verdict.transactionId, verdict)
      const booked = transactions.filter(({ state }) => state === 'ACCEPTED')
      for (const awaits of waiting.values())
        for (const { transactionId } of booked) awaits.delete(transactionId)
      for (const inbox of judged) waiting.delete(inbox)
      for (const inbox of released) if (!isOpen(carrierAt(inbox))) waiting.delete(inbox)
      for (const { inbox, awaits } of effects.waiting) waiting.set(inbox, new Set(awaits))
      if (released.length === 0) {
        const last = isCut ? rest.findLastIndex(({ inbox }) => judged.has(inbox)) : rest.length
        rest = rest.slice(last + 1)
      }
      before = after(before, effects)
    }
  }
  // Carriers whose transactions were decided by another carrier wait in vain.
  const left = [...waiting.keys()]
    .map(carrierAt)
    .filter(({ prepared }) => isOpenVerdict(verdicts.get(prepared.identity.transactionId)))
  return {
    verdicts: new Map([...verdicts].sort(([a], [b]) => (a < b ? -1 : 1))),
    outputs: before.outputById,
    waiting: left.map(({ blockId }) => blockId).sort(),
  }

  function carrierAt(inbox: number): Candidate {
    return byInbox.get(inbox) ?? at([], 0)
  }
}

/** Loads the carriers that wait for the first `loads` awaited transactions. */
function storedOf(
  waiting: ReadonlyMap<number, ReadonlySet<TransactionId>>,
  carrierOf: (inbox: number) => Candidate,
  { loads, isOpen }: { loads: number; isOpen: (candidate: Candidate) => boolean },
): StoredWaiters {
  const awaited = [...new Set([...waiting.values()].flatMap((awaits) => [...awaits]))].sort()
  const skipped = new Set(awaited.slice(loads))
  const waiters = [...waiting].flatMap(([inbox, all]) => {
    const awaits = [...all].filter((id) => !skipped.has(id))
    const candidate = carrierOf(inbox)
    return awaits.length === 0 || !isOpen(candidate)
      ? []
      : [{ candidate, awaits, missing: all.size }]
  })
  return { waiters, isLoaded: (id) => !skipped.has(id) }
}

function isOpenVerdict(verdict: BookedTransaction | undefined): boolean {
  return verdict === undefined || (verdict.state === 'FAILED' && isOfCarrier(verdict.failureReason))
}

function acceptedOf({ verdicts, outputs }: Booked): unknown {
  const accepted = [...verdicts.values()].filter(({ state }) => state === 'ACCEPTED')
  return [accepted.map(({ transactionId }) => transactionId), [...outputs.keys()].sort()]
}

function isValid({ prepared }: Candidate): boolean {
  return prepared.payload.unlocks.every(
    (unlock) => unlock.type !== 0 || prepared.isSignatureValid(unlock.signature),
  )
}

function at<T>(list: readonly T[], n: number): T {
  return present(list[n % list.length], 'one of the list')
}

function candidateOf(prepared: PreparedTransaction, index: number): Candidate {
  return {
    blockId: parsed(BlockId, `0x${index.toString(16).padStart(64, '0')}07000000`),
    inbox: index,
    slot: 7,
    prepared,
  }
}

function candidatesOf(plans: Parameters<typeof transfersOf>[0]): Candidate[] {
  return transfersOf(plans).map(candidateOf)
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

/** Returns the ledger after the effects are written, as the next batch reads it. */
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
