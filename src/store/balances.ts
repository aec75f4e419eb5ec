import type { DueOutput, Output } from '../generated/prisma/client.ts'
import type { MovedOutputs } from '../ledger/activity.ts'
import {
  applyMoves,
  type BalanceMove,
  balanceMoves,
  type OutputEvents,
  type TokenKey,
} from '../ledger/balances-of-address.ts'
import type { PlacedState } from '../ledger/chain-states.ts'
import { conditionOf } from '../ledger/output-parts.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { createLargeMap } from '../lib/large-map.ts'
import { eachInTurns, mapInTurns } from '../lib/turns.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import { Expiration } from '../protocol/unlock-conditions.ts'
import { addToken, balancesBefore, type OwnedToken, writeBalances } from './balance-rows.ts'
import { outputsForBooking } from './book.ts'
import { appendChainStates, placedState } from './chain-states.ts'
import { inChunks } from './in-chunks.ts'
import { forgetOutputs, type LiveOutput, liveOutput, transferExpired } from './output-index.ts'
import { createdInSlots, type SlotRange, spentInSlots } from './sql/slot-outputs.ts'
import type { RawWriting } from './sql/statements.ts'
import { idFromBytes } from './values.ts'

/** Keeps the balances of addresses, in the transaction that commits a slot. */

/** What an address owns in all at the end of a slot that moved it; `undefined` for others. */
export type TotalAt = (address: Hex, slot: SlotIndex) => bigint | undefined

/** What some slots did to outputs and to what addresses own in all. */
export interface MovedSlots extends MovedOutputs {
  /** By how many unspent outputs of a kind there are more. */
  readonly countByKind: ReadonlyMap<number, number>
  readonly totalAt: TotalAt
}

/**
 * Moves the balances by what was booked into some slots and by what time alone does until their end, enters new states of chains,
 * and takes what is spent out of the index. A slot may have any number of outputs: of a page of them no more is kept than these need.
 */
export async function moveBalances(
  writing: RawWriting,
  { minCommittableAge }: Pick<ProtocolParameters, 'minCommittableAge'>,
  span: SlotRange,
): Promise<MovedSlots> {
  const due = await dueIn(writing, minCommittableAge, span)
  const gathered = gatherMoves({ minCommittableAge })
  gathered.add({ due })
  const amountById = createLargeMap<OutputId, bigint>()
  const spenderById = createLargeMap<OutputId, TransactionId | undefined>()
  const countByKind = new Map<number, number>()
  const count = (kind: number, by: number) =>
    countByKind.set(kind, (countByKind.get(kind) ?? 0) + by)
  const states: PlacedState[] = []
  for await (const page of createdInSlots(writing, span)) {
    await eachInTurns(page, (row) => {
      const live = toLife(row)
      amountById.set(live.outputId, live.output.amount)
      count(live.output.type, 1)
      states.push(...placedState(live))
      gathered.add({ created: [live] })
    })
  }
  for await (const page of spentInSlots(writing, span)) {
    const spent = await mapInTurns(page, (row) => {
      const live = toLife(row)
      spenderById.set(live.outputId, row.spentBy === null ? undefined : idFromBytes(row.spentBy))
      count(live.output.type, -1)
      gathered.add({ spent: [live] })
      return live
    })
    await forgetOutputs(writing, spent)
  }
  await appendChainStates(writing, states)
  const moves = gathered.inOrder()
  const before = await balancesBefore(writing, gathered)
  const moved = await applyMoves(before, moves)
  await writeBalances(writing, before, moved)
  await transferExpired(writing, expiredOutputs(due, minCommittableAge, span))
  const totalAt: TotalAt = (address, slot) => moved.totals.get(slot)?.get(address)
  return { amountById, spenderById, countByKind, totalAt }
}

/** Gathers moves, and whose balances they concern. */
function gatherMoves(parameters: Pick<ProtocolParameters, 'minCommittableAge'>) {
  const bySlot = new Map<SlotIndex, BalanceMove[]>()
  const owners = createLargeMap<Hex, true>()
  const tokens = new Map<TokenKey, OwnedToken>()

  function add(part: Partial<OutputEvents>): void {
    for (const move of balanceMoves(parameters, { created: [], spent: [], due: [], ...part })) {
      const { slot, holding } = move
      const ofSlot = bySlot.get(slot)
      if (ofSlot === undefined) bySlot.set(slot, [move])
      else ofSlot.push(move)
      owners.set(holding.owner, true)
      addToken(tokens, holding)
    }
  }

  /** The oldest slot first, and within a slot in the order in which they came: time before the ledger. */
  function* inOrder(): Iterable<BalanceMove> {
    for (const [, moves] of [...bySlot].sort(([a], [b]) => a - b)) yield* moves
  }

  return { add, inOrder, owners: owners.keys, tokens }
}

/** An output, and a slot that it awaits. */
interface DueLife {
  readonly life: LiveOutput
  readonly slot: SlotIndex
}

/** Outputs for which a slot that they await is among these, once for each such slot; they await it no more. */
async function dueIn(
  writing: RawWriting,
  minCommittableAge: number,
  { after, upTo }: SlotRange,
): Promise<DueLife[]> {
  const { tx, sql } = writing
  const awaited = BigInt(upTo + minCommittableAge)
  const due: DueLife[] = []
  const text = sql.numbered(`SELECT slot, "outputId" FROM due_outputs WHERE slot <= ?`)
  const rows = await tx.$queryRawUnsafe<DueOutput[]>(text, awaited)
  if (rows.length === 0) return due
  await tx.$executeRawUnsafe(sql.numbered('DELETE FROM due_outputs WHERE slot <= ?'), awaited)
  const lifeById = new Map<Hex, LiveOutput>()
  const dueIds = new Set(rows.map(({ outputId }) => idFromBytes<'OutputId'>(outputId)))
  await inChunks([...dueIds], async (ids) => {
    const found = await outputsForBooking(writing, ids)
    await eachInTurns(found, (row) => lifeById.set(row.outputId, liveOutput(row)))
  })
  for (const row of rows) {
    const life = lifeById.get(bytesToHex(row.outputId))
    const slot = Number(row.slot) - minCommittableAge
    // What was over when the output came is in its first holding.
    if (life !== undefined && slot > after) due.push({ life, slot })
  }
  return due
}

function toLife({ id, bytes, bookedSlot, spentSlot }: Output): LiveOutput {
  return liveOutput({
    outputId: idFromBytes(id),
    bytes,
    bookedSlot: Number(bookedSlot),
    spentSlot: spentSlot === null ? undefined : Number(spentSlot),
  })
}

/** Of the outputs that are still unspent at the end of the slots, those that another address holds from one of them on. */
function expiredOutputs(due: readonly DueLife[], minCommittableAge: number, { upTo }: SlotRange) {
  return due.flatMap(({ life, slot }) => {
    const { output, bookedSlot, spentSlot } = life
    const reached = slot + minCommittableAge
    const isOurs = conditionOf(output, Expiration)?.slot === reached && bookedSlot < slot
    const isUnspent = spentSlot === undefined || spentSlot > upTo
    return isOurs && isUnspent ? [{ live: life, reached }] : []
  })
}
