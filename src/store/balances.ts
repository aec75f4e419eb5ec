import type { Output } from '../generated/prisma/client.ts'
import { applyMoves, type BalanceMove, balanceMoves } from '../ledger/balances-of-address.ts'
import { conditionOf } from '../ledger/output-parts.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { mapInTurns } from '../lib/turns.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { SlotIndex, TransactionId } from '../protocol/primitives.ts'
import { Expiration } from '../protocol/unlock-conditions.ts'
import { balancesBefore, writeBalances } from './balance-rows.ts'
import { outputsForBooking } from './book.ts'
import { appendChainStates } from './chain-states.ts'
import { inChunks } from './in-chunks.ts'
import { forgetOutputs, type LiveOutput, liveOutput, transferExpired } from './output-index.ts'
import { slotOutputs } from './sql/slot-outputs.ts'
import type { Writing } from './sql/statements.ts'
import { idFromBytes } from './values.ts'

/** Keeps the balances of addresses, in the transaction that commits a slot. */

/** What an address owns in all at the end of a slot that moved it; `undefined` for others. */
export type TotalAt = (address: Hex, slot: SlotIndex) => bigint | undefined

/** Slots to be committed. */
export interface SlotSpan {
  /** The slot before the first. */
  readonly after: SlotIndex
  readonly upTo: SlotIndex
}

/** What some slots did to outputs and to what addresses own in all. */
export interface MovedSlots {
  readonly created: readonly LiveOutput[]
  readonly spent: readonly SpentLife[]
  readonly totalAt: TotalAt
}

/** A spent output with the transaction that spends it; `undefined` if the upstream node did not report it. */
export interface SpentLife extends LiveOutput {
  readonly spentBy: TransactionId | undefined
}

/** Moves the balances by what was booked into some slots and by what time alone does until their end, and enters new states of chains. */
export async function moveBalances(
  writing: Writing,
  { minCommittableAge }: Pick<ProtocolParameters, 'minCommittableAge'>,
  span: SlotSpan,
): Promise<MovedSlots> {
  const events = await eventsIn(writing, minCommittableAge, span)
  const moves = await movesOf({ minCommittableAge }, events)
  await appendChainStates(writing, events.created)
  const before = await balancesBefore(writing, moves)
  const moved = await applyMoves(before, moves)
  await writeBalances(writing, before, moved)
  await transferExpired(writing, expiredOutputs(events, minCommittableAge, span))
  await forgetOutputs(writing, events.spent)
  return { ...events, totalAt: (address, slot) => moved.totals.get(`${address}:${slot}`) }
}

/** The moves of all events, made part by part; their order is that of the slots, and within a slot that of the lists. */
async function movesOf(
  parameters: Pick<ProtocolParameters, 'minCommittableAge'>,
  { created, spent, due }: Events,
): Promise<BalanceMove[]> {
  const moves = balanceMoves(parameters, { created: [], spent: [], due })
  const add = async (part: Partial<Events>) => {
    moves.push(...balanceMoves(parameters, { created: [], spent: [], due: [], ...part }))
  }
  await inChunks(created, (some) => add({ created: some }))
  await inChunks(spent, (some) => add({ spent: some }))
  // Sorting keeps the order of what is equal.
  return moves.sort((a, b) => a.slot - b.slot)
}

interface Events {
  readonly created: readonly LiveOutput[]
  readonly spent: readonly SpentLife[]
  readonly due: readonly { readonly life: LiveOutput; readonly slot: SlotIndex }[]
}

async function eventsIn(
  writing: Writing,
  minCommittableAge: number,
  { after, upTo }: SlotSpan,
): Promise<Events> {
  const { tx } = writing
  const { created, spent } = await slotOutputs(writing, { after, upTo })
  const awaited = { lte: BigInt(upTo + minCommittableAge) }
  const dueRows = await tx.dueOutput.findMany({ where: { slot: awaited } })
  if (dueRows.length > 0) await tx.dueOutput.deleteMany({ where: { slot: awaited } })
  const lifeById = new Map<Hex, LiveOutput>()
  const dueIds = new Set(dueRows.map(({ outputId }) => idFromBytes<'OutputId'>(outputId)))
  await inChunks([...dueIds], async (ids) => {
    const rows = await outputsForBooking(writing, ids)
    for (const row of rows) lifeById.set(row.outputId, liveOutput(row))
  })
  const due = dueRows.flatMap((row) => {
    const life = lifeById.get(bytesToHex(row.outputId))
    const slot = Number(row.slot) - minCommittableAge
    // What was over when the output came is in its first holding.
    return life === undefined || slot <= after ? [] : [{ life, slot }]
  })
  const spenderOf = ({ spentBy }: Output) =>
    spentBy === null ? undefined : idFromBytes<'TransactionId'>(spentBy)
  return {
    created: await mapInTurns(created, toLife),
    spent: await mapInTurns(spent, (row) => ({ ...toLife(row), spentBy: spenderOf(row) })),
    due,
  }
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
function expiredOutputs({ due }: Events, minCommittableAge: number, { upTo }: SlotSpan) {
  return due.flatMap(({ life, slot }) => {
    const { output, bookedSlot, spentSlot } = life
    const reached = slot + minCommittableAge
    const isOurs = conditionOf(output, Expiration)?.slot === reached && bookedSlot < slot
    const isUnspent = spentSlot === undefined || spentSlot > upTo
    return isOurs && isUnspent ? [{ live: life, reached }] : []
  })
}
