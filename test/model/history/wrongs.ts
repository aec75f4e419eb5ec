import { conditionOf } from '../../../src/ledger/output-parts.ts'
import { present } from '../../../src/lib/assert.ts'
import { addressKey, identifyTransaction, slotOfId } from '../../../src/protocol/ids.ts'
import type { Keypair } from '../../../src/protocol/keys.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import type { AccountId, CommitmentId } from '../../../src/protocol/primitives.ts'
import type { SignedTransaction, Transaction } from '../../../src/protocol/transaction.ts'
import { StorageDepositReturn } from '../../../src/protocol/unlock-conditions.ts'
import { makeTransaction, type Plan, playerOf } from '../../support/player.ts'
import { plain, spenderOf, type Turn } from '../../support/player-coins.ts'
import type { Random } from '../../support/random.ts'

/** Transactions that break one rule, each of which must fail for the reason that the model finds. */

/** A copy of a transaction with one change that no valid transaction has, signed again; `undefined` if the change does not fit. */
export function wrongCopy(
  random: Random,
  keys: readonly Keypair[],
  { transaction, unlocks }: SignedTransaction,
): SignedTransaction | undefined {
  for (const change of random.shuffled(changes)) {
    const place = random.between(0, transaction.outputs.length - 1)
    const changed = change(transaction, place)
    if (changed === undefined) continue
    return signedAgain(changed, unlocks, keys)
  }
  return undefined
}

function signedAgain(
  transaction: Transaction,
  unlocks: SignedTransaction['unlocks'],
  keys: readonly Keypair[],
): SignedTransaction {
  const { signingHash } = identifyTransaction(transaction)
  const signed = unlocks.map((unlock) => {
    if (unlock.type !== 0) return unlock
    const key = keys.find(({ publicKey }) => publicKey === unlock.signature.publicKey)
    return { type: 0, signature: present(key, 'a key').sign(signingHash) } as const
  })
  return { type: 1, transaction, unlocks: signed }
}

type Change = (transaction: Transaction, place: number) => Transaction | undefined

const stranger = playerOf(9_999).addresses[0]
const strangeId = `0x${'5a'.repeat(32)}` as AccountId

/** Changes the output at a place. */
function ofOutput(change: (output: Output) => Output | undefined): Change {
  return (transaction, place) => {
    const output = transaction.outputs[place]
    const changed = output && change(output)
    return changed && { ...transaction, outputs: transaction.outputs.with(place, changed) }
  }
}

const changes: readonly Change[] = [
  ofOutput((output) => ({ ...output, amount: output.amount + 1n })),
  ofOutput((output) =>
    'mana' in output ? { ...output, mana: output.mana + 10n ** 15n } : undefined,
  ),
  ofOutput((output) =>
    output.type === 1 ? { ...output, foundryCounter: output.foundryCounter + 9 } : undefined,
  ),
  ofOutput((output) =>
    output.type === 1 ? features(output, ({ type }) => type !== 6) : undefined,
  ),
  ofOutput((output) => {
    if (output.type !== 1) return undefined
    const early = output.features.map((one) => (one.type === 6 ? { ...one, expirySlot: 1 } : one))
    return { ...output, features: early }
  }),
  ofOutput((output) =>
    output.type === 2 ? { ...output, stateIndex: output.stateIndex + 2 } : undefined,
  ),
  ofOutput((output) => {
    if (output.type !== 2 || output.stateIndex === 0) return undefined
    const [controller] = output.unlockConditions
    return (
      controller && { ...output, unlockConditions: [controller, { type: 5, address: stranger }] }
    )
  }),
  ofOutput((output) =>
    output.type === 3 ? scheme(output, { mintedTokens: 1n, meltedTokens: 0n }) : undefined,
  ),
  ofOutput((output) =>
    output.type === 3 ? scheme(output, { mintedTokens: 1n, meltedTokens: 1n }) : undefined,
  ),
  ofOutput((output) =>
    output.type === 3 ? scheme(output, { mintedTokens: 0n, meltedTokens: 1n }) : undefined,
  ),
  ofOutput((output) => {
    if (output.type !== 3) return undefined
    const { tokenScheme } = output
    const maximumSupply = tokenScheme.maximumSupply + 1n
    return { ...output, tokenScheme: { ...tokenScheme, maximumSupply } }
  }),
  ofOutput((output) =>
    output.type === 3 ? { ...output, serialNumber: output.serialNumber + 3 } : undefined,
  ),
  ofOutput((output) => {
    if (output.type !== 4 || output.immutableFeatures.length === 0) return undefined
    return { ...output, immutableFeatures: [{ type: 1, address: stranger }] }
  }),
  ofOutput((output) => (output.type === 4 ? { ...output, nftId: strangeId as never } : undefined)),
  ofOutput((output) =>
    output.type === 5 ? { ...output, startEpoch: output.startEpoch + 3 } : undefined,
  ),
  ofOutput((output) =>
    output.type === 5 ? { ...output, endEpoch: output.endEpoch + 7 } : undefined,
  ),
  ofOutput((output) => {
    if (output.type !== 5) return undefined
    return { ...output, delegatedAmount: output.delegatedAmount - 1n }
  }),
  ofOutput((output) => {
    if (output.type !== 0 || output.features.length > 0) return undefined
    return { ...output, features: [{ type: 0, address: stranger }] }
  }),
  ofOutput((output) => {
    if (output.type !== 0) return undefined
    const more = output.features.map((one) =>
      one.type === 5 ? { ...one, amount: one.amount + 1n } : one,
    )
    return output.features.some(({ type }) => type === 5)
      ? { ...output, features: more }
      : undefined
  }),
  ofOutput((output) => {
    if (output.type !== 1) return undefined
    const late = output.features.map((one) =>
      one.type === 7 ? { ...one, startEpoch: one.startEpoch + 1 } : one,
    )
    return output.features.some(({ type }) => type === 7)
      ? { ...output, features: late }
      : undefined
  }),
  // The governor of an anchor cannot change its amount.
  (transaction, place) => {
    const { outputs } = transaction
    const [anchor, last] = [outputs[place], outputs.at(-1)]
    if (anchor?.type !== 2 || anchor.stateIndex !== 0 || /^0x0+$/.test(anchor.anchorId))
      return undefined
    if (last?.type !== 0) return undefined
    const more = { ...anchor, amount: anchor.amount + 1n }
    const less = { ...last, amount: last.amount - 1n }
    return { ...transaction, outputs: outputs.with(place, more).with(-1, less) }
  },
  // Without the inputs of credits or rewards.
  (transaction) => without(transaction, 1),
  (transaction) => without(transaction, 2),
  (transaction) => {
    const { contextInputs } = transaction
    const [commitment, ...others] = contextInputs
    if (commitment?.type !== 0 || others.some(({ type }) => type === 1)) return undefined
    const credit = { type: 1, accountId: strangeId } as const
    return { ...transaction, contextInputs: [commitment, credit, ...others] }
  },
  (transaction) => {
    const { contextInputs } = transaction
    if (contextInputs.length === 0 || contextInputs.some(({ type }) => type === 2)) return undefined
    return { ...transaction, contextInputs: [...contextInputs, { type: 2, index: 0 }] }
  },
  (transaction) => {
    const [commitment, ...others] = transaction.contextInputs
    if (commitment?.type !== 0) return undefined
    const commitmentId = `0x5a5a${commitment.commitmentId.slice(6)}` as CommitmentId
    return { ...transaction, contextInputs: [{ type: 0, commitmentId }, ...others] }
  },
  // Before an input was created, in its epoch or before it.
  (transaction) => {
    const slots = transaction.inputs.map(({ transactionId }) => slotOfId(transactionId))
    return { ...transaction, creationSlot: Math.max(...slots) - 1 }
  },
  (transaction) => ({ ...transaction, creationSlot: 1 }),
  // Destroys a chain without the capability.
  (transaction, place) => {
    const { outputs } = transaction
    const [gone, last] = [outputs[place], outputs.at(-1)]
    if (gone === undefined || last === undefined || last.type !== 0 || gone === last)
      return undefined
    const ids = [1, 2, 4].includes(gone.type) ? Object.entries(gone) : []
    const isOld = ids.some(
      ([name, id]) => /^(account|anchor|nft)Id$/.test(name) && !/^0x0+$/.test(id),
    )
    if (!isOld) return undefined
    const left = outputs.filter((one) => one !== gone && one !== last)
    const rest = { ...last, amount: last.amount + gone.amount }
    return { ...transaction, capabilities: '0x02', outputs: [...left, rest] }
  },
]

function features<T extends Extract<Output, { type: 1 }>>(
  output: T,
  isLeft: (feature: T['features'][number]) => boolean,
): T | undefined {
  const left = output.features.filter(isLeft)
  return left.length === output.features.length ? undefined : { ...output, features: left }
}

function scheme<T extends Extract<Output, { type: 3 }>>(
  output: T,
  more: { readonly mintedTokens: bigint; readonly meltedTokens: bigint },
): T {
  const { tokenScheme } = output
  const mintedTokens = tokenScheme.mintedTokens + more.mintedTokens
  const meltedTokens = tokenScheme.meltedTokens + more.meltedTokens
  return { ...output, tokenScheme: { ...tokenScheme, mintedTokens, meltedTokens } }
}

function without(transaction: Transaction, type: 1 | 2): Transaction | undefined {
  const contextInputs = transaction.contextInputs.filter((one) => one.type !== type)
  const isSame = contextInputs.length === transaction.contextInputs.length
  return isSame ? undefined : { ...transaction, contextInputs }
}

/** Spends an output that is locked, that nobody can spend at the moment, or without the return of its deposit. */
export function hastyTransaction(turn: Turn): SignedTransaction | undefined {
  const { player, random, moment } = turn
  const plan = hastyPlan(turn)
  if (plan === undefined) return undefined
  const { payload } = makeTransaction(player, moment, plan)
  if (random.between(0, 1) === 0) return payload
  // Without a commitment, no condition on time is met.
  const transaction = { ...payload.transaction, contextInputs: [] }
  return signedAgain(transaction, payload.unlocks, player.keys)
}

function hastyPlan({ player, random, moment, coins }: Turn): Plan | undefined {
  const [own, other] = player.addresses
  for (const coin of random.shuffled(coins)) {
    const { output } = coin
    const [owner] = output.unlockConditions
    if (output.type !== 0 || owner?.type !== 0 || owner.address.type !== 0) continue
    if (output.features.some(({ type }) => type === 5)) continue
    const spender = spenderOf(output, moment)
    const by = spender ?? owner.address
    if (by.type !== 0) continue
    const deposit = conditionOf(output, StorageDepositReturn)?.returnAddress
    const key = deposit && addressKey(deposit)
    const isDue = key !== undefined && key !== addressKey(by)
    if (spender !== undefined && !isDue) continue
    const outputs = [plain(key === addressKey(own) ? other : own, output.amount)]
    return { name: 'hasty', spends: [{ coin, by }], outputs, credits: [], rewards: [] }
  }
  return undefined
}
