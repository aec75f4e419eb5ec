import { createHash } from 'node:crypto'
import { chainId } from '../../../src/ledger/chains.ts'
import { present } from '../../../src/lib/assert.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import type { Address, MultiAddress } from '../../../src/protocol/addresses.ts'
import { addressKey, identifyTransaction, outputId } from '../../../src/protocol/ids.ts'
import { type Keypair, keypairOf } from '../../../src/protocol/keys.ts'
import type {
  AccountOutput,
  AnchorOutput,
  NftOutput,
  Output,
} from '../../../src/protocol/outputs.ts'
import type { AccountId, Id } from '../../../src/protocol/primitives.ts'
import type { Transaction } from '../../../src/protocol/transaction.ts'
import type { Unlock } from '../../../src/protocol/unlocks.ts'
import type { ModelOutput } from '../../support/balance-model.ts'
import type { Moment } from '../../support/ledger-world.ts'
import { plain } from '../../support/player-coins.ts'
import { isZeroId } from '../accounts.ts'
import { type Bank, failureOf, inputOf } from './bank.ts'
import type { HistoryWorld } from './world.ts'

/**
 * Owners that are no keys: a multi address, restricted addresses, and a tower of chains: an anchor that owns an NFT that owns an account
 * that owns outputs.
 */
export interface Vault {
  /** Makes one step: fills the vault, builds the tower, or spends something, sometimes wrongly. */
  step(moment: Moment): Promise<void>
}

/** Starts an empty vault. */
export function createVault(world: HistoryWorld, bank: Bank, seed: number): Vault {
  const { random } = world
  const keys = [0, 1, 2].map((n) => keypairOf(sha256(`vault ${seed} ${n}`)))
  const [first, second] = keys.map(ofKey) as [Address, Address]
  const multi: MultiAddress = {
    ...{ type: 40, threshold: 2 },
    addresses: keys
      .map((key) => ({ address: ofKey(key), weight: 1 }))
      .sort((a, b) => (a.address.pubKeyHash < b.address.pubKeyHash ? -1 : 1)),
  }
  const restricted = (address: typeof multi | ReturnType<typeof ofKey>, mask: Hex): Address => ({
    ...{ type: 48, address, allowedCapabilities: mask },
  })
  const owners: readonly Address[] = [
    first,
    multi,
    restricted(ofKey(present(keys[0], 'a key')), '0x'),
    restricted(multi, '0x1e'),
  ]
  /** The chains from the top, as far as they are built. */
  const tower: ModelOutput[] = []
  let coins: ModelOutput[] = []

  async function step(moment: Moment): Promise<void> {
    if (coins.length < 3) return fill(moment)
    const lot = random.between(0, 5)
    if (lot === 0) return fill(moment)
    if (lot < 3 && tower.length < 3) return build(moment)
    if (lot < 4 && tower.length === 3) return climb(moment)
    await spend(moment)
  }

  /** The address of a chain of the tower. */
  function addressOf({ output, outputId: id }: ModelOutput): Address {
    const chain = chainId(output, id)
    if (output.type === 2) return { type: 24, anchorId: chain as Id<'AnchorId'> }
    if (output.type === 4) return { type: 16, nftId: chain as Id<'NftId'> }
    return { type: 8, accountId: chain as AccountId }
  }

  async function fill(moment: Moment): Promise<void> {
    const top = tower.map(addressOf)
    const outputs = Array.from({ length: 3 }, () => {
      const owner = anyOf([...owners, ...top])
      const made = plain(owner, 5_000_000n)
      // An address without capabilities accepts no conditions.
      if (owner.type === 48 && owner.allowedCapabilities === '0x') return made
      // The owners of some expire, and their deposits return to addresses that are no keys.
      const lot = random.between(0, 5)
      const slot = moment.slot + random.between(2, 20)
      const returnAddress = anyOf(owners)
      if (lot === 0) return withCondition(made, { type: 3, returnAddress, slot })
      if (lot === 1) return withCondition(made, { type: 1, returnAddress, amount: 300_000n })
      return made
    })
    const made = await bank.pay(moment, outputs)
    coins.push(...(made ?? []).filter(({ output }) => output.unlockConditions.length === 1))
  }

  /** Adds the next chain to the tower. */
  async function build(moment: Moment): Promise<void> {
    const coin = coins.find(({ output }) => ownerOf(output).type === 0)
    if (coin === undefined) return fill(moment)
    const above = tower.at(-1)
    const address = above === undefined ? first : addressOf(above)
    const { amount } = coin.output
    const next = [
      {
        ...{ type: 2, amount, mana: 0n, anchorId: zeros as Id<'AnchorId'>, stateIndex: 0 },
        unlockConditions: [
          { type: 4, address: first },
          { type: 5, address: second },
        ],
        ...{ features: [], immutableFeatures: [] },
      } satisfies AnchorOutput,
      {
        ...{ type: 4, amount, mana: 0n, nftId: zeros as Id<'NftId'> },
        ...{ unlockConditions: [{ type: 0, address }], features: [], immutableFeatures: [] },
      } satisfies NftOutput,
      {
        ...{ type: 1, amount, mana: 0n, accountId: zeros as AccountId, foundryCounter: 0 },
        ...{ unlockConditions: [{ type: 0, address }], features: [], immutableFeatures: [] },
      } satisfies AccountOutput,
    ][tower.length]
    const made = await send(moment, [coin], [present(next, 'a chain')])
    if (made !== undefined) tower.push(...made)
  }

  /** Moves the whole tower and takes what its chains own; in a wrong order, nothing is unlocked. */
  async function climb(moment: Moment): Promise<void> {
    const [anchor, ...below] = tower
    if (anchor?.output.type !== 2) return
    const owned = coins.filter(({ output }) => tower.some((one) => owns(one, output))).slice(0, 3)
    const step = random.between(0, 2) === 0 ? 0 : 1
    const stateIndex = anchor.output.stateIndex + step
    const next = tower.map((one) => named(one))
    const moved = [{ ...next[0], stateIndex } as AnchorOutput, ...next.slice(1)]
    const inputs = [anchor, ...below, ...owned]
    const spent = random.between(0, 4) === 0 ? random.shuffled(inputs) : inputs
    const rest = owned.map(({ output }) => plain(anyOf(owners), output.amount))
    const made = await send(moment, spent, [...moved, ...rest], step === 0 ? second : first)
    if (made !== undefined) tower.splice(0, 3, ...made.slice(0, 3))
  }

  /** Spends some outputs of the key, the multi address and the restricted addresses. */
  async function spend(moment: Moment): Promise<void> {
    const own = coins.filter(({ output }) => !tower.some((one) => owns(one, output)))
    const spent = random.shuffled(own).slice(0, random.between(1, 4))
    if (spent.length === 0) return
    const outputs = spent.map(({ output }) => {
      const made = plain(anyOf(owners), output.amount)
      const isSent = random.between(0, 3) === 0
      return isSent ? { ...made, features: [{ type: 0, address: anyOf(owners) } as const] } : made
    })
    await send(moment, spent, outputs)
  }

  async function send(
    moment: Moment,
    spent: readonly ModelOutput[],
    outputs: readonly Output[],
    anchorHolder: Address = first,
  ): Promise<ModelOutput[] | undefined> {
    const transaction: Transaction = {
      ...{ networkId: moment.offer.network.id, creationSlot: moment.slot, contextInputs: [] },
      inputs: spent.map((one) => inputOf(one.outputId)),
      ...{ allotments: [], capabilities: '0x3f', payload: undefined, outputs },
    }
    const { signingHash, transactionId } = identifyTransaction(transaction)
    const unlocks = unlocksOf(spent, anchorHolder, signingHash)
    const payload = { type: 1, transaction, unlocks } as const
    const { isAccepted, slot } = await world.send(moment, { payload })
    if (!isAccepted) return undefined
    const failure = await failureOf(world, transactionId)
    world.count(`vault ${failure ?? 'moved'}`)
    if (failure !== undefined) return undefined
    const ids = new Set(spent.map((one) => one.outputId))
    const made = outputs.map((output, i) => ({
      ...{ outputId: outputId(transactionId, i), output, bookedSlot: slot },
    }))
    const kept = made.filter(({ output }) => output.type === 0)
    coins = [...coins.filter((one) => !ids.has(one.outputId)), ...kept]
    return made
  }

  function unlocksOf(
    spent: readonly ModelOutput[],
    anchorHolder: Address,
    signingHash: Uint8Array,
  ): Unlock[] {
    const opened = new Map<Hex, number>()
    const isWrong = random.between(0, 6) === 0
    return spent.map(({ output }, index): Unlock => {
      const owner = output.type === 2 ? anchorHolder : ownerOf(output)
      const address = owner.type === 48 ? owner.address : owner
      const key = addressKey(address)
      const reference = opened.get(key)
      if (reference === undefined) opened.set(key, index)
      if (address.type === 40) {
        if (reference !== undefined) return { type: 1, reference: isWrong ? index - 1 : reference }
        return multiUnlock(signingHash, isWrong ? random.between(0, 3) : 4)
      }
      if (address.type === 0) {
        if (reference !== undefined) return { type: 1, reference: isWrong ? index - 1 : reference }
        const signer = keys.find(({ publicKeyHash }) => publicKeyHash === address.pubKeyHash)
        return { type: 0, signature: present(signer, 'a key').sign(signingHash) }
      }
      const above = spent.findIndex((one) => owns(one, output))
      const code = ({ 8: 2, 24: 3, 16: 4 } as const)[address.type as 8 | 16 | 24]
      return { type: code, reference: Math.max(0, isWrong ? above - 1 : above) }
    })
  }

  /** Two of three members sign, or something is wrong. */
  function multiUnlock(signingHash: Uint8Array, lot: number): Unlock {
    const signed = multi.addresses.map(({ address }) => {
      const key = keys.find((own) => addressKey(ofKey(own)) === addressKey(address))
      return { type: 0, signature: present(key, 'a key').sign(signingHash) } as const
    })
    const empty = { type: 6 } as const
    const only = (isSigned: (place: number) => boolean) =>
      signed.map((each, place) => (isSigned(place) ? each : empty))
    if (lot === 0) return { type: 5, unlocks: only((place) => place === 0) }
    if (lot === 1) return { type: 5, unlocks: signed.slice(1) }
    if (lot === 2) return { type: 5, unlocks: signed.toReversed() }
    if (lot === 3) return present(signed[0], 'a signature')
    const left = random.between(0, 2)
    return { type: 5, unlocks: only((place) => place !== left) }
  }

  function owns(chain: ModelOutput, output: Output): boolean {
    if (chain.output.type === 0) return false
    return output.type !== 2 && addressKey(addressOf(chain)) === addressKey(ownerOf(output))
  }

  function named({ output, outputId: id }: ModelOutput): Output {
    const chain = chainId(output, id)
    if (output.type === 2 && isZeroId(output.anchorId))
      return { ...output, anchorId: chain as Id<'AnchorId'> }
    if (output.type === 4) return { ...output, nftId: chain as Id<'NftId'> }
    return output.type === 1 ? { ...output, accountId: chain as AccountId } : output
  }

  function anyOf<T>(list: readonly T[]): T {
    return present(list[random.between(0, list.length - 1)], 'an element')
  }

  return { step }
}

function ofKey({ publicKeyHash: pubKeyHash }: Keypair) {
  return { type: 0, pubKeyHash } as const
}

function ownerOf({ unlockConditions }: Output): Address {
  const [condition] = unlockConditions
  return present(
    condition !== undefined && 'address' in condition ? condition.address : undefined,
    'an owner',
  )
}

type Condition = ReturnType<typeof plain>['unlockConditions'][number]

function withCondition(output: ReturnType<typeof plain>, condition: Condition) {
  return { ...output, unlockConditions: [...output.unlockConditions, condition] }
}

const zeros = `0x${'00'.repeat(32)}` as const

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
