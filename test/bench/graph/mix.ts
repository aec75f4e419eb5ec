import { present } from '../../../src/lib/assert.ts'
import type { BasicOutput } from '../../../src/protocol/outputs.ts'
import type { ModelOutput } from '../../support/balance-model.ts'
import type { Moment } from '../../support/ledger-world.ts'
import {
  type MadeTransaction,
  makeTransaction,
  type Plan,
  type Player,
} from '../../support/player.ts'
import { balanced, plain, spendable, type Turn } from '../../support/player-coins.ts'
import { anyMove } from '../../support/player-moves.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { keyOf } from '../keys.ts'

/** The transactions of the users of a large ledger: mostly payments, and some with outputs of every kind. */

/** A user with outputs. */
export interface Seat {
  readonly player: Player
  readonly random: Random
  /** The unspent outputs of the user, the oldest first. */
  coins: ModelOutput[]
  /** A spent output of the user; a transaction that spends it again fails. */
  spent: ModelOutput | undefined
}

/** Creates users with OpenSSL keys, because OpenSSL signs fast. */
export function seatsOf(count: number): readonly Seat[] {
  return Array.from({ length: count }, (_, n) => {
    const keys = [keyOf(3 * n), keyOf(3 * n + 1), keyOf(3 * n + 2)] as const
    const address = ({ publicKeyHash: pubKeyHash }: (typeof keys)[0]) =>
      ({ type: 0, pubKeyHash }) as const
    const addresses = [address(keys[0]), address(keys[1]), address(keys[2])] as const
    return { player: { keys, addresses }, random: createRandom(n + 7), coins: [], spent: undefined }
  })
}

/** The number of newest outputs that a move can use. More would slow the moves down without another effect. */
const coinsInHand = 40

/** A transaction, and whether it spends a spent output. */
export interface NextTransaction extends MadeTransaction {
  readonly isMeantToFail: boolean
}

/** The next transaction of a user; `undefined` if the user has no spendable output. */
export function nextTransaction(
  seat: Seat,
  seats: readonly Seat[],
  moment: Moment,
): NextTransaction | undefined {
  const { player, random } = seat
  const turn = { player, random, moment, coins: seat.coins.slice(-coinsInHand) }
  const chance = random.between(0, 99)
  const plan =
    (chance < 2 && again(seat)) ||
    (chance < 62 ? payment(turn, seats) : anyMove(turn)) ||
    anyMove(turn)
  if (plan === undefined) return undefined
  return { ...makeTransaction(player, moment, plan), isMeantToFail: plan.name === 'again' }
}

/** A payment to a random user; the first users receive most. */
function payment(turn: Turn, seats: readonly Seat[]): Plan | undefined {
  const { random } = turn
  const to = Math.floor(seats.length * (random.between(0, 9_999) / 10_000) ** 3)
  const receiver = present(seats[to], 'a user').player.addresses[0]
  const outputs: BasicOutput[] = [plain(receiver, BigInt(random.between(300_000, 3_000_000)))]
  const [held] = random.between(0, 9) === 0 ? spendable(turn, 0).slice(-1) : []
  return balanced(turn, { name: 'pay', spends: held ? [held] : [], outputs })
}

/** Spends a spent output again. */
function again({ spent, player }: Seat): Plan | undefined {
  if (spent === undefined) return undefined
  const by = player.addresses[0]
  const outputs = [plain(by, spent.output.amount)]
  return { name: 'again', spends: [{ coin: spent, by }], outputs, credits: [], rewards: [] }
}
