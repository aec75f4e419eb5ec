import { createHash } from 'node:crypto'
import { featureOf } from '../../../src/ledger/output-parts.ts'
import { BlockIssuer, Staking } from '../../../src/protocol/features.ts'
import { chainIdOf, identifyTransaction, outputId } from '../../../src/protocol/ids.ts'
import { type Keypair, keypairOf } from '../../../src/protocol/keys.ts'
import type { AccountOutput, DelegationOutput, Output } from '../../../src/protocol/outputs.ts'
import type { AccountId, DelegationId } from '../../../src/protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch, maxSlot } from '../../../src/protocol/slots.ts'
import type { Payload, Transaction } from '../../../src/protocol/transaction.ts'
import type { ModelOutput } from '../../support/balance-model.ts'
import type { Moment } from '../../support/ledger-world.ts'
import { makeTransaction } from '../../support/player.ts'
import { plain } from '../../support/player-coins.ts'
import { isZeroId } from '../accounts.ts'
import { type Bank, failureOf, inputOf } from './bank.ts'
import { coinsOf, isPlain, note, type Seat } from './seats.ts'
import { type HistoryWorld, historyParameters } from './world.ts'

/** Accounts that issue blocks, stake, vote, run into debt and expire. */

/** An account, or the output that becomes one. */
export interface HistoryIssuer {
  readonly key: Keypair
  accountId: AccountId | undefined
  coin: ModelOutput
  account: AccountOutput | undefined
  isGone: boolean
}

/** The accounts of a history. */
export interface Issuers {
  /** Each account makes one random step; sometimes a new account begins. */
  step(moment: Moment): Promise<void>
  /** Every validator votes in both halves of the slot, as one that works well. */
  voteWell(moment: Moment): Promise<void>
  /** A random account that exists; `undefined` if there is none. */
  any(): { readonly accountId: AccountId; readonly key: Keypair } | undefined
}

const { maxCommittableAge, epochNearingThreshold } = historyParameters
const most = 6

/** Starts without accounts. */
export function createIssuers(
  world: HistoryWorld,
  bank: Bank,
  { seats, seed }: { readonly seats: readonly Seat[]; readonly seed: number },
): Issuers {
  const { random } = world
  const issuers: HistoryIssuer[] = []
  const running = () => issuers.filter((one) => !one.isGone && one.accountId !== undefined)

  async function step(moment: Moment): Promise<void> {
    if (random.between(0, 2) === 0 && issuers.length < most) await begin(moment)
    for (const issuer of issuers) {
      if (issuer.isGone) continue
      if (issuer.accountId === undefined) await createAccount(moment, issuer)
      else await act(moment, issuer, { accountId: issuer.accountId, key: issuer.key })
    }
  }

  /** Pays for an account: to a key, or to an implicit account creation address. */
  async function begin(moment: Moment): Promise<void> {
    const key = keypairOf(sha256(`issuer ${seed} ${issuers.length}`))
    const type = random.between(0, 1) === 0 ? 32 : 0
    const made = await bank.pay(moment, [
      plain({ type, pubKeyHash: key.publicKeyHash }, 50_000_000n),
    ])
    const [coin] = made ?? []
    if (coin === undefined) return
    issuers.push({ key, coin, accountId: undefined, account: undefined, isGone: false })
  }

  async function createAccount(moment: Moment, issuer: HistoryIssuer): Promise<void> {
    const { coin, key } = issuer
    if (coin.bookedSlot > moment.committed || random.between(0, 1) === 0) return
    const owner = coin.output.unlockConditions[0]
    const isImplicit = owner?.type === 0 && owner.address.type === 32
    const accountId = isImplicit ? (chainIdOf(coin.outputId) as AccountId) : zeroId
    const isShort = random.between(0, 3) === 0
    const expirySlot = isShort ? moment.committed + 6 + random.between(0, 30) : maxSlot
    const account: AccountOutput = {
      ...{ type: 1, amount: coin.output.amount, mana: 0n, accountId, foundryCounter: 0 },
      unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: key.publicKeyHash } }],
      features: [
        { type: 6, expirySlot, blockIssuerKeys: [{ type: 0, pubKeyHash: key.publicKeyHash }] },
        ...(random.between(0, 1) === 0 ? [staking(moment, random.between(1, 2))] : []),
      ],
      immutableFeatures: [],
    }
    await move(moment, issuer, { next: account, credits: isImplicit ? [accountId] : [] })
  }

  async function act(
    moment: Moment,
    issuer: HistoryIssuer,
    by: { readonly accountId: AccountId; readonly key: Keypair },
  ): Promise<void> {
    const { accountId } = by
    switch (random.between(0, 8)) {
      case 0:
      case 1: {
        const mana = BigInt(random.between(1, 60)) * 100_000n
        const gift = { ...plain({ type: 0, pubKeyHash: by.key.publicKeyHash }, 1_000_000n), mana }
        await bank.pay(moment, random.between(0, 1) === 0 ? [gift] : [], [{ accountId, mana }])
        return
      }
      case 2:
        for (let n = random.between(1, 4); n > 0; n--) {
          await world.send(moment, { by, payload: random.between(0, 1) ? tagged() : undefined })
        }
        return
      case 3:
        await world.send(moment, { by, payload: { type: 2 } })
        return
      case 4:
        // Sometimes more votes than a validator may cast in a slot.
        for (let n = random.between(0, 19) === 0 ? 3 : random.between(1, 2); n > 0; n--) {
          const ahead = BigInt(random.between(0, 400)) * 1_000_000n
          const supports = random.between(0, 4) === 0 ? random.between(3, 6) : 3
          await world.send(moment, { by, isVote: true, supports, ahead })
        }
        return
      case 5:
        await world.send(moment, { by: { accountId, key: keypairOf(sha256('wrong')) } })
        return
      case 6:
        await world.send(moment, { by, burn: BigInt(random.between(0, 200_000)) })
        return
      case 7:
        if (issuer.coin.bookedSlot <= moment.committed) await change(moment, issuer)
        return
      default:
        await delegateTo(moment, accountId)
    }
  }

  function tagged(): Payload {
    return { type: 0, tag: '0x01', data: `0x${'00'.repeat(random.between(0, 50))}` }
  }

  function staking(moment: Moment, epochs: number): Staking {
    const startEpoch = epochOfSlot(historyParameters, moment.committed + maxCommittableAge)
    return {
      type: 7,
      stakedAmount: 1_000_000n * BigInt(random.between(1, 9)),
      fixedCost: BigInt(random.between(0, 3)) * 1_000n,
      ...{ startEpoch, endEpoch: startEpoch + epochs },
    }
  }

  /** Renews, extends, ends or begins the staking of an account, destroys the account, or only moves it. */
  async function change(moment: Moment, issuer: HistoryIssuer): Promise<void> {
    const { accountId, account } = issuer
    if (accountId === undefined || account === undefined) return
    const staked = featureOf(account, Staking)
    const expirySlot = featureOf(account, BlockIssuer)?.expirySlot ?? 0
    const isExpired = expirySlot < moment.committed
    const isEnded =
      staked !== undefined && epochOfSlot(historyParameters, moment.committed + 3) > staked.endEpoch
    const lot = random.between(0, 4)
    const credits = [accountId]
    // Not before the account has expired; the ledger refuses it otherwise.
    if (staked === undefined && lot === 2) {
      const own = plain({ type: 0, pubKeyHash: issuer.key.publicKeyHash }, account.amount)
      issuer.isGone = await move(moment, issuer, { next: own, credits })
      return
    }
    const others = account.features
      .filter(({ type }) => type !== 7)
      .map((one) =>
        isExpired && one.type === 6 ? { ...one, expirySlot: moment.committed + 40 } : one,
      )
    const extended = epochOfSlot(historyParameters, moment.committed + maxCommittableAge)
    const next = nextStaking()
    const features = next === undefined ? others : [...others, next]
    const rewards = isEnded ? [0] : []
    await move(moment, issuer, { next: { ...account, accountId, features }, credits, rewards })

    function nextStaking(): Staking | undefined {
      if (staked === undefined) return lot === 1 ? staking(moment, 1) : undefined
      if (isEnded) return lot < 2 ? undefined : staking(moment, 1)
      if (lot === 0) return { ...staked, endEpoch: extended + random.between(1, 3) }
      // A bonded stake can neither end nor change.
      if (lot === 3) return undefined
      return lot === 4 ? { ...staked, stakedAmount: staked.stakedAmount + 1n } : staked
    }
  }

  async function move(
    moment: Moment,
    issuer: HistoryIssuer,
    {
      next,
      credits,
      rewards = [],
    }: {
      readonly next: Output
      readonly credits: readonly AccountId[]
      readonly rewards?: readonly number[]
    },
  ): Promise<boolean> {
    const transaction: Transaction = {
      ...{ networkId: moment.offer.network.id, creationSlot: moment.slot },
      contextInputs: [
        { type: 0, commitmentId: moment.commitmentId },
        ...credits.map((accountId) => ({ type: 1, accountId }) as const),
        ...rewards.map((index) => ({ type: 2, index }) as const),
      ],
      inputs: [inputOf(issuer.coin.outputId)],
      ...{ allotments: [], capabilities: '0x3f', payload: undefined, outputs: [next] },
    }
    const { signingHash, transactionId } = identifyTransaction(transaction)
    const unlocks = [{ type: 0, signature: issuer.key.sign(signingHash) } as const]
    const { isAccepted, slot } = await world.send(moment, {
      payload: { type: 1, transaction, unlocks },
    })
    if (!isAccepted) return false
    const failure = await failureOf(world, transactionId)
    world.count(`account ${failure ?? 'moved'}`)
    if (failure !== undefined) return false
    const id = outputId(transactionId, 0)
    issuer.coin = { outputId: id, output: next, bookedSlot: slot }
    if (next.type !== 1) return true
    issuer.account = next
    issuer.accountId = isZeroId(next.accountId) ? (chainIdOf(id) as AccountId) : next.accountId
    return true
  }

  /** A player delegates to the account. */
  async function delegateTo(moment: Moment, accountId: AccountId): Promise<void> {
    const seat = seats[random.between(0, seats.length - 1)]
    const [own] = seat?.player.addresses ?? []
    if (seat === undefined || own === undefined) return
    const coin = coinsOf(seat).find(({ output }) => {
      const isOwn = output.type === 0 && isPlain(output) && output.amount > 5_000_000n
      const owner = output.unlockConditions[0]
      return isOwn && owner?.type === 0 && 'pubKeyHash' in owner.address
        ? owner.address.pubKeyHash === own.pubKeyHash
        : false
    })
    if (coin === undefined) return
    const amount = 3_000_000n
    const latest = moment.committed + maxCommittableAge
    const epoch = epochOfSlot(historyParameters, latest)
    const isOpen = latest <= lastSlotOfEpoch(historyParameters, epoch) - epochNearingThreshold
    const delegation: DelegationOutput = {
      ...{ type: 5, amount, delegatedAmount: amount, delegationId: noDelegation },
      validatorAddress: { type: 8, accountId },
      ...{ startEpoch: (isOpen ? epoch : epoch + 1) + 1, endEpoch: 0 },
      unlockConditions: [{ type: 0, address: own }],
    }
    const made = makeTransaction(seat.player, moment, {
      name: 'delegate',
      spends: [{ coin, by: own }],
      outputs: [delegation, plain(own, coin.output.amount - amount)],
      ...{ credits: [], rewards: [] },
    })
    const { isAccepted, slot } = await world.send(moment, { payload: made.payload })
    if (isAccepted) note(seat, made, slot)
  }

  async function voteWell(moment: Moment): Promise<void> {
    for (const { accountId, key, account } of running()) {
      if (accountId === undefined || account === undefined) continue
      if (featureOf(account, Staking) === undefined) continue
      const by = { accountId, key }
      await world.send(moment, { by, isVote: true })
      await world.send(moment, { by, isVote: true, ahead: 450_000_000n })
      if (moment.slot % 20 === 3) await world.send(moment, { by, payload: { type: 2 } })
    }
  }

  function any() {
    const all = running()
    const found = all[random.between(0, all.length - 1)]
    return found?.accountId && { accountId: found.accountId, key: found.key }
  }

  return { step, voteWell, any }
}

const zeros = `0x${'00'.repeat(32)}` as const
const zeroId = zeros as AccountId
const noDelegation = zeros as DelegationId

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
