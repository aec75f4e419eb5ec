import type { BasicOutput } from '../../../src/protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../../src/protocol/transaction.ts'
import type { ModelOutput } from '../../support/balance-model.ts'
import type { Moment } from '../../support/ledger-world.ts'
import {
  type MadeTransaction,
  makeTransaction,
  type Plan,
  type Player,
  playerOf,
} from '../../support/player.ts'
import { plain } from '../../support/player-coins.ts'
import { anyMove } from '../../support/player-moves.ts'
import { createRandom, type Random } from '../../support/random.ts'
import type { BlockDraft, HistoryWorld } from './world.ts'
import { hastyTransaction, wrongCopy } from './wrongs.ts'

/** The players of a history: each makes one random move in a round, sometimes in a wrong or unusual way. */

/** A player with the outputs that the player has owned so far. */
export interface Seat {
  readonly player: Player
  readonly random: Random
  /** Chooses the ways in. It is separate, so that it does not change the sequence of moves. */
  readonly chance: Random
  readonly coins: Map<OutputId, ModelOutput>
}

/** A seat for the player of a number. */
export function seatOf(n: number, seed: number): Seat {
  const [random, chance] = [createRandom(seed * 1_000 + n), createRandom(seed * 2_000 + n)]
  return { player: playerOf(n), random, chance, coins: new Map() }
}

/** The unspent outputs of a seat. */
export function coinsOf({ coins }: Seat): ModelOutput[] {
  return [...coins.values()].filter(({ spentSlot }) => spentSlot === undefined)
}

/** Records a transaction that was submitted in a slot. */
export function note(
  { coins }: Seat,
  { spent, created }: Pick<MadeTransaction, 'spent' | 'created'>,
  slot: SlotIndex,
): void {
  for (const id of spent) {
    const coin = coins.get(id)
    if (coin !== undefined) coins.set(id, { ...coin, spentSlot: slot })
  }
  for (const one of created) coins.set(one.outputId, { ...one, bookedSlot: slot })
}

/** Makes one random move of a player, if a move is possible. */
export async function play(world: HistoryWorld, seat: Seat, moment: Moment): Promise<void> {
  const { player, random, chance } = seat
  const plan = anyMove({ player, random, moment, coins: coinsOf(seat) })
  if (plan === undefined) return
  const made = makeTransaction(player, moment, plan)
  const variation = variations[random.between(0, 19)]
  const isChildFirst = variation === 'child first' || variation === 'parent in a later slot'
  const child = isChildFirst ? childOf(seat, moment, made) : undefined
  if (child !== undefined) {
    await world.send(moment, {
      chance,
      payload: child.payload,
      ahead: slotAhead(variation === 'child first' ? random.between(0, 1) : 0),
    })
  }
  const wrong = variation && wrongCopyOf(seat, variation, made.payload)
  if (wrong !== undefined) await world.send(moment, { chance, payload: wrong })
  if (variation === 'hasty') {
    const hasty = hastyTransaction({ player, random, moment, coins: coinsOf(seat) })
    if (hasty !== undefined) await world.send(moment, { chance, payload: hasty })
  }
  const draft: BlockDraft = {
    chance,
    payload: made.payload,
    ahead: slotAhead(variation === 'early' || variation === 'parent in a later slot' ? 1 : 0),
  }
  const { isAccepted, slot } = await world.send(moment, draft)
  if (!isAccepted) return
  await sendAgain(world, moment, { variation, made, seat, plan })
  note(seat, made, slot)
  if (child !== undefined) note(seat, child, slot)
}

/** What is unusual about one move in twenty each. */
const variations = [
  'wrong',
  'wrong',
  'wrong',
  'hasty',
  'wrong key',
  'child first',
  'parent in a later slot',
  'early',
  'in two blocks',
  'rival',
] as const
type Variation = (typeof variations)[number]

/** Nanoseconds to the same place in a later slot. */
function slotAhead(slots: number): bigint {
  return BigInt(slots) * 1_100_000_000n
}

function wrongCopyOf(
  { random, player }: Seat,
  variation: Variation,
  payload: SignedTransaction,
): SignedTransaction | undefined {
  if (variation === 'wrong') return wrongCopy(random, player.keys, payload)
  if (variation !== 'wrong key') return undefined
  const signature = playerOf(9_999).keys[0].sign(new Uint8Array(3))
  const unlocks = payload.unlocks.map((one) => (one.type === 0 ? { ...one, signature } : one))
  return { ...payload, unlocks }
}

/** A transaction that spends the remainder of another one. */
function childOf(
  { player }: Seat,
  moment: Moment,
  { created }: MadeTransaction,
): MadeTransaction | undefined {
  const rest = created.at(-1)
  const [by, to] = player.addresses
  if (rest?.output.type !== 0 || !isPlain(rest.output)) return undefined
  const owner = rest.output.unlockConditions[0]
  if (owner?.type !== 0 || owner.address.type !== 0) return undefined
  if (owner.address.pubKeyHash !== by.pubKeyHash) return undefined
  const coin = { ...rest, bookedSlot: moment.slot }
  return makeTransaction(player, moment, {
    name: 'child',
    spends: [{ coin, by }],
    outputs: [plain(to, rest.output.amount)],
    ...{ credits: [], rewards: [] },
  })
}

/** Whether an output has no condition but its owner. */
export function isPlain({ unlockConditions, features }: BasicOutput): boolean {
  return unlockConditions.length === 1 && features.length === 0
}

async function sendAgain(
  world: HistoryWorld,
  moment: Moment,
  {
    variation,
    made,
    seat,
    plan,
  }: {
    readonly variation: Variation | undefined
    readonly made: MadeTransaction
    readonly seat: Seat
    readonly plan: Plan
  },
): Promise<void> {
  const { chance } = seat
  if (variation === 'in two blocks') await world.send(moment, { chance, payload: made.payload })
  if (variation !== 'rival') return
  const rival = makeTransaction(seat.player, { ...moment, slot: moment.slot - 1 }, plan)
  await world.send(moment, { chance, payload: rival.payload })
}
