import { conditionOf, featureOf } from '../../src/ledger/output-parts.ts'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import type { Address, Ed25519Address } from '../../src/protocol/addresses.ts'
import { NativeToken } from '../../src/protocol/features.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import type { BasicOutput, Output } from '../../src/protocol/outputs.ts'
import type { FoundryId } from '../../src/protocol/primitives.ts'
import {
  AddressUnlock,
  Expiration,
  StorageDepositReturn,
  Timelock,
} from '../../src/protocol/unlock-conditions.ts'
import type { ModelOutput } from './balance-model.ts'
import { type Moment, worldParameters } from './ledger-world.ts'
import { addressOfChain, type Plan, type Player, type Spend } from './player.ts'
import type { Random } from './random.ts'

/** Finds the outputs that a player can spend, and balances the transactions that spend them. */

/** A player with the moment and the outputs of a move. */
export interface Turn {
  readonly player: Player
  readonly moment: Moment
  readonly random: Random
  /** The unspent outputs of the player. */
  readonly coins: readonly ModelOutput[]
}

/** A random element of a list; `undefined` if the list is empty. */
export function pick<T>(random: Random, list: readonly T[]): T | undefined {
  return list[random.between(0, list.length - 1)]
}

/** The earliest and the latest slot in which a transaction of the moment can be booked. */
export function boundsOf({ committed }: Moment) {
  const { minCommittableAge, maxCommittableAge } = worldParameters
  return { earliest: committed + minCommittableAge, latest: committed + maxCommittableAge }
}

/** The address that may spend a basic output or an NFT at a moment; `undefined` if none may. */
export function spenderOf(output: Output, moment: Moment): Address | undefined {
  const { earliest, latest } = boundsOf(moment)
  const timelock = conditionOf(output, Timelock)
  if (timelock !== undefined && earliest < timelock.slot) return undefined
  const owner = conditionOf(output, AddressUnlock)?.address
  const expiration = conditionOf(output, Expiration)
  if (expiration === undefined || latest < expiration.slot) return owner
  return earliest >= expiration.slot ? expiration.returnAddress : undefined
}

/** The outputs of a type that one of the player's keys may spend now. */
export function spendable<T extends Output['type']>(turn: Turn, type: T): Spend[] {
  return turn.coins.flatMap((coin) => {
    if (coin.output.type !== type) return []
    const by = spenderOf(coin.output, turn.moment)
    return by?.type === 0 ? [{ coin, by }] : []
  })
}

/** A plan whose base tokens need not balance. */
export interface Draft extends Partial<Plan> {
  readonly name: string
  readonly spends: readonly Spend[]
  readonly outputs: readonly Output[]
  /** The native token that the draft itself balances. */
  readonly settled?: FoundryId | undefined
}

/** The minimum amount of a small output. */
const minAmount = 300_000n

/** Balances a draft: returns storage deposits, keeps native tokens, adds missing base tokens, and creates an output for the rest. */
export function balanced(turn: Turn, draft: Draft): Plan | undefined {
  const spends = [...draft.spends]
  const outputs = [...draft.outputs, ...depositsOf(spends)]
  outputs.push(...tokensOf(turn, spends, draft.settled))
  const left = () => sumOf(spends.map(({ coin }) => coin.output)) - sumOf(outputs)
  for (const coin of purse(turn)) {
    if (left() >= minAmount) break
    if (!spends.some((spend) => spend.coin.outputId === coin.coin.outputId)) spends.push(coin)
  }
  if (left() < minAmount) return undefined
  outputs.push(plain(turn.player.addresses[0], left()))
  const { name, credits = [], rewards = [] } = draft
  return { name, spends, outputs, credits, rewards }
}

/** The spendable outputs that hold only base tokens. */
function purse(turn: Turn): Spend[] {
  return spendable(turn, 0).filter(
    ({ coin }) =>
      featureOf(coin.output, NativeToken) === undefined &&
      conditionOf(coin.output, StorageDepositReturn) === undefined,
  )
}

/** An output without conditions. */
export function plain(address: Address, amount: bigint): BasicOutput {
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

function depositsOf(spends: readonly Spend[]): BasicOutput[] {
  const due = new Map<Hex, BasicOutput>()
  for (const { coin, by } of spends) {
    const deposit = conditionOf(coin.output, StorageDepositReturn)
    if (deposit === undefined) continue
    const key = addressKey(deposit.returnAddress)
    if (key === addressKey(by)) continue
    const former = due.get(key)?.amount ?? 0n
    due.set(key, plain(deposit.returnAddress, former + deposit.amount))
  }
  return [...due.values()]
}

/** Creates one output for every native token of the inputs. Burns half of some tokens. */
function tokensOf(turn: Turn, spends: readonly Spend[], settled: FoundryId | undefined) {
  const sums = new Map<FoundryId, bigint>()
  for (const { coin } of spends) {
    // A foundry keeps its own tokens.
    const token = coin.output.type === 3 ? undefined : featureOf(coin.output, NativeToken)
    if (token !== undefined) sums.set(token.id, (sums.get(token.id) ?? 0n) + token.amount)
  }
  return [...sums].flatMap(([id, sum]): BasicOutput[] => {
    if (id === settled) return []
    const amount = turn.random.between(0, 3) === 0 ? sum / 2n : sum
    if (amount === 0n) return []
    const output = plain(anyKey(turn), 500_000n)
    return [{ ...output, features: [{ type: 5, id, amount }] }]
  })
}

function sumOf(outputs: readonly Output[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n)
}

/** The address of a random key of the player. */
export function anyKey({ player, random }: Turn): Ed25519Address {
  return present(pick(random, player.addresses), 'an address')
}

/** A random address of the player, including those of the player's accounts and NFTs. */
export function anyOwner(turn: Turn): Address {
  const chains = turn.coins.flatMap(({ output, outputId }): Address[] => {
    const key = addressOfChain({ output, outputId, bookedSlot: 0 })
    if (key === undefined) return []
    if (output.type === 1) return [{ type: 8, accountId: `0x${key.slice(4)}` as never }]
    return [{ type: 16, nftId: `0x${key.slice(4)}` as never }]
  })
  if (chains.length === 0 || turn.random.between(0, 4) > 0) return anyKey(turn)
  return present(pick(turn.random, chains), 'a chain')
}
