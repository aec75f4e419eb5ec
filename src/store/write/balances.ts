import type { DueOutput, Output } from '../../generated/prisma/client.ts'
import type { MovedOutputs } from '../../ledger/activity.ts'
import {
  applyMoves,
  type BalanceMove,
  balanceMoves,
  type OutputEvents,
  type OwnerAt,
  type TokenKey,
} from '../../ledger/balances-of-address.ts'
import type { PlacedState } from '../../ledger/chain-states.ts'
import { conditionOf } from '../../ledger/output-parts.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { createLargeMap } from '../../lib/large-map.ts'
import { eachInTurns, mapInTurns, passTurn } from '../../lib/turns.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { Expiration } from '../../protocol/unlock-conditions.ts'
import {
  createdInSlots,
  maxIdBytes,
  pagesOfSlots,
  type SlotRange,
  spentInSlots,
} from '../sql/slot-outputs.ts'
import type { RawWriting } from '../sql/statements.ts'
import { idFromBytes } from '../values.ts'
import {
  addToken,
  balancesBefore,
  type OwnedToken,
  writeBalances,
  writeExpirationTotals,
} from './balance-rows.ts'
import { outputsForBooking } from './book.ts'
import { appendChainStates, placedState } from './chain-states.ts'
import { collectOutputs, collectTotals } from './moved-outputs.ts'
import {
  type DecodedOutput,
  decodedOutput,
  forgetOutputs,
  transferExpired,
} from './output-index.ts'

/** Maintains the balances of addresses, in the transaction that commits a slot. */

/** Returns the total of an address at the end of a slot; `undefined` if the slot did not change it. */
export type TotalAt = (address: Hex, slot: SlotIndex) => bigint | undefined

/** The changes of outputs and of totals by some slots. */
export interface MovedSlots extends MovedOutputs {
  /** Change of the number of unspent outputs by kind. */
  readonly countByKind: ReadonlyMap<number, number>
  readonly totalAt: TotalAt
}

/**
 * Updates the balances by the bookings of some slots and by the timelocks and expirations up to their end, adds new states of chains, and
 * removes spent outputs from the index. A slot may have any number of outputs, so only the needed part of each page stays in memory.
 */
export async function moveBalances(
  writing: RawWriting,
  { minCommittableAge }: Pick<ProtocolParameters, 'minCommittableAge'>,
  span: SlotRange,
): Promise<MovedSlots> {
  const moves = createMoveBatches(writing, { minCommittableAge }, span)
  for await (const due of dueIn(writing, minCommittableAge, span)) {
    await moves.add({ due })
    await transferExpired(writing, expiredOutputs(due, minCommittableAge, span))
  }
  const outputs = collectOutputs()
  const countByKind = new Map<number, number>()
  const count = (kind: number, by: number) =>
    countByKind.set(kind, (countByKind.get(kind) ?? 0) + by)
  const states: PlacedState[] = []
  for await (const page of spentInSlots(writing, span)) {
    const spent = await mapInTurns(page, (row) => {
      const decoded = toDecoded(row)
      outputs.spent(decoded.outputId, row.spentBy)
      count(decoded.output.type, -1)
      return decoded
    })
    await moves.add({ created: spent.filter(isPassedOn), spent })
    await forgetOutputs(writing, spent)
  }
  for await (const page of createdInSlots(writing, span)) {
    const created = await mapInTurns(page, (row) => {
      const decoded = toDecoded(row)
      outputs.created(decoded.outputId, decoded.output.amount)
      count(decoded.output.type, 1)
      states.push(...placedState(decoded))
      return decoded
    })
    await moves.add({ created: created.filter((decoded) => !isPassedOn(decoded)) })
  }
  await appendChainStates(writing, states)
  const totalAt = await moves.end()
  const { amountById, spenderById } = outputs
  return { amountById, spenderById, countByKind, totalAt }
}

/**
 * Whether the slot that creates an output also spends it. Its address gains and loses it in one batch of moves: a slot may pass on the
 * same tokens so often that the sum of these outputs exceeds the integers of the database. Other outputs are spent before new ones are
 * created, so that no batch leaves more tokens than there are.
 */
function isPassedOn({ bookedSlot, spentSlot }: DecodedOutput): boolean {
  return bookedSlot === spentSlot
}

/**
 * Applies moves to the stored balances. The moves of one slot are applied in batches, because balances are sums and only those at the
 * end of the slot are seen. The moves of several slots are one batch: they are sorted by slot first.
 */
function createMoveBatches(
  writing: RawWriting,
  parameters: Pick<ProtocolParameters, 'minCommittableAge'>,
  { after, upTo }: SlotRange,
) {
  const maxMoves = upTo - after === 1 ? movesPerBatch : Number.POSITIVE_INFINITY
  let gathered = gatherMoves(parameters)
  const totals = collectTotals()
  const transfers: OwnerAt[] = []

  /** Adds some events. Within a slot, those by time must be added first. */
  async function add(events: Partial<OutputEvents>): Promise<void> {
    await passTurn()
    gathered.add(events)
    if (gathered.count() >= maxMoves) await apply()
  }

  async function apply(): Promise<void> {
    const before = await balancesBefore(writing, gathered)
    const moved = await applyMoves(before, gathered.inOrder())
    gathered = gatherMoves(parameters)
    for (const [slot, ofSlot] of moved.totals) {
      await eachInTurns(ofSlot, ([owner, total]) => totals.set(owner, slot, total))
    }
    // Not as arguments of one call: V8 refuses some 120,000 of them, and any number of outputs may expire in a slot.
    for (const one of moved.transferred) transfers.push(one)
    await writeBalances(writing, before, moved)
  }

  /** Applies the remaining moves. Returns the totals at the ends of the slots. */
  async function end(): Promise<TotalAt> {
    await apply()
    await writeExpirationTotals(writing, transfers, totals.get)
    return totals.get
  }

  return { add, end }
}

/** Moves of a batch. A usual slot has fewer, so its balances are read and written once. */
const movesPerBatch = 4_000

/** Gathers moves, and the addresses and tokens that they affect. */
function gatherMoves(parameters: Pick<ProtocolParameters, 'minCommittableAge'>) {
  const bySlot = new Map<SlotIndex, BalanceMove[]>()
  const owners = createLargeMap<Hex, true>()
  const tokens = new Map<TokenKey, OwnedToken>()
  let count = 0

  function add(part: Partial<OutputEvents>): void {
    for (const move of balanceMoves(parameters, { created: [], spent: [], due: [], ...part })) {
      const { slot, holding } = move
      const ofSlot = bySlot.get(slot)
      if (ofSlot === undefined) bySlot.set(slot, [move])
      else ofSlot.push(move)
      owners.set(holding.owner, true)
      addToken(tokens, holding)
      count++
    }
  }

  /** Returns the moves by slot, and within a slot in the order in which they were added: moves by time come before moves by bookings. */
  function* inOrder(): Iterable<BalanceMove> {
    for (const [, moves] of [...bySlot].sort(([a], [b]) => a - b)) yield* moves
  }

  return { add, count: () => count, inOrder, owners: owners.keys, tokens }
}

/** An output, and a slot in which time alone changes it. */
interface DueSpan {
  readonly span: DecodedOutput
  readonly slot: SlotIndex
}

/** Counts the outputs that time alone changes in each of several slots. A single slot is not counted: it has no others beside it. */
export async function countDue(
  { tx, sql }: RawWriting,
  { minCommittableAge }: Pick<ProtocolParameters, 'minCommittableAge'>,
  { after, upTo }: SlotRange,
): Promise<ReadonlyMap<SlotIndex, number>> {
  if (upTo - after === 1) return new Map()
  const text =
    'SELECT slot, count(*) AS count FROM due_outputs WHERE slot > ? AND slot <= ? GROUP BY slot'
  const bounds = [after, upTo].map((slot) => BigInt(slot + minCommittableAge))
  const rows = await tx.$queryRawUnsafe<{ readonly slot: bigint; readonly count: bigint }[]>(
    sql.numbered(text),
    ...bounds,
  )
  return new Map(rows.map(({ slot, count }) => [Number(slot) - minCommittableAge, Number(count)]))
}

/**
 * Yields the outputs that time alone changes in these slots, once per such slot, page by page: any number of outputs may change in a slot.
 * Deletes their rows in `due_outputs`.
 */
async function* dueIn(
  writing: RawWriting,
  minCommittableAge: number,
  { after, upTo }: SlotRange,
): AsyncGenerator<readonly DueSpan[]> {
  const { tx, sql } = writing
  const awaited = upTo + minCommittableAge
  const pages = pagesOfSlots<DueOutput>(writing, dueText, {
    upTo: awaited,
    first: [-1n, maxIdBytes],
    placeOf: ({ slot, outputId }) => [slot, outputId],
  })
  let isAny = false
  for await (const page of pages) {
    isAny = true
    yield await dueSpans(writing, minCommittableAge, { page, after })
  }
  if (!isAny) return
  await tx.$executeRawUnsafe(
    sql.numbered('DELETE FROM due_outputs WHERE slot <= ?'),
    BigInt(awaited),
  )
}

const dueText = `SELECT slot, "outputId" FROM due_outputs
  WHERE (slot, "outputId") > (?, ?) AND slot <= ? ORDER BY slot, "outputId"`

async function dueSpans(
  writing: RawWriting,
  minCommittableAge: number,
  { page, after }: { readonly page: readonly DueOutput[]; readonly after: SlotIndex },
): Promise<DueSpan[]> {
  const ids = new Set(page.map(({ outputId }) => idFromBytes<'OutputId'>(outputId)))
  const found = await mapInTurns(await outputsForBooking(writing, [...ids]), decodedOutput)
  const outputById = new Map<Hex, DecodedOutput>(found.map((span) => [span.outputId, span]))
  return page.flatMap((row) => {
    const span = outputById.get(bytesToHex(row.outputId))
    const slot = Number(row.slot) - minCommittableAge
    // A slot that was over when the output was booked is part of its first holding.
    return span !== undefined && slot > after ? [{ span, slot }] : []
  })
}

function toDecoded({ id, bytes, bookedSlot, spentSlot }: Output): DecodedOutput {
  return decodedOutput({
    outputId: idFromBytes(id),
    bytes,
    bookedSlot: Number(bookedSlot),
    spentSlot: spentSlot === null ? undefined : Number(spentSlot),
  })
}

/** Returns the unspent outputs that passed to another address in one of the slots. */
function expiredOutputs(due: readonly DueSpan[], minCommittableAge: number, { upTo }: SlotRange) {
  return due.flatMap(({ span, slot }) => {
    const { output, bookedSlot, spentSlot } = span
    const reached = slot + minCommittableAge
    const isOurs = conditionOf(output, Expiration)?.slot === reached && bookedSlot < slot
    const isUnspent = spentSlot === undefined || spentSlot > upTo
    return isOurs && isUnspent ? [{ decoded: span, reached }] : []
  })
}
