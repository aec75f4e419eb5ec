import type { AccountEntry } from '../../src/ledger/accounts.ts'
import { chainId } from '../../src/ledger/chains.ts'
import { decay, generatedMana } from '../../src/ledger/mana.ts'
import { conditionOf, featureOf } from '../../src/ledger/output-parts.ts'
import { BlockIssuer, Staking } from '../../src/protocol/features.ts'
import type { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { AccountId, SlotIndex } from '../../src/protocol/primitives.ts'
import { epochOfSlot } from '../../src/protocol/slots.ts'
import type { Allotment } from '../../src/protocol/transaction.ts'
import { AddressUnlock } from '../../src/protocol/unlock-conditions.ts'
import { groupBy } from './lists.ts'
import type { BookedOutput, StoredBlock } from './stored-ledger.ts'

/** The accounts ledger: what a slot does to the entries of accounts (ledger reference 12.2, 12.3). */

/** The entries of accounts by their id. */
export type Accounts = ReadonlyMap<AccountId, AccountEntry>

/** What happened in a slot. Outputs that it both created and spent are left out. */
export interface SlotEffects {
  readonly slot: SlotIndex
  readonly created: readonly BookedOutput[]
  readonly spent: readonly BookedOutput[]
  readonly allotments: readonly Allotment[]
  readonly blocks: readonly StoredBlock[]
  /** The reference mana cost of the blocks. */
  readonly price: bigint
}

/** The entries after a slot. */
export function accountsAfter(
  parameters: ProtocolParameters,
  former: Accounts,
  effects: SlotEffects,
): Map<AccountId, AccountEntry> {
  const next = new Map(former)
  const credits = new Map<AccountId, bigint>()
  const charge = (id: AccountId, mana: bigint) => credits.set(id, (credits.get(id) ?? 0n) + mana)
  allot(effects, former, next, charge)
  moveOutputs(effects, next)
  for (const block of effects.blocks) {
    if (!block.isValidation) charge(block.issuerId, -BigInt(block.workScore) * effects.price)
  }
  vote(parameters, effects, former, next, charge)
  for (const [id, change] of credits) {
    const entry = next.get(id)
    if (entry === undefined || change === 0n) continue
    const before = former.get(id)
    const held = before === undefined ? 0n : decayed(parameters, before, effects.slot)
    next.set(id, { ...entry, credits: held + change, updatedSlot: effects.slot })
  }
  return next
}

type Charge = (id: AccountId, mana: bigint) => void

/** Mana for an account without an entry creates one, and is lost. */
function allot(
  { slot, allotments }: SlotEffects,
  former: Accounts,
  next: Map<AccountId, AccountEntry>,
  charge: Charge,
): void {
  for (const { accountId, mana } of allotments) {
    if (former.has(accountId)) charge(accountId, mana)
    else if (!next.has(accountId)) next.set(accountId, emptyEntry(accountId, slot))
  }
}

function moveOutputs(
  { slot, created, spent }: SlotEffects,
  next: Map<AccountId, AccountEntry>,
): void {
  const ended = new Set(spent.flatMap((one) => termsOf(one)?.accountId ?? []))
  const current = created.flatMap((one) => termsOf(one) ?? [])
  for (const { accountId } of current) ended.delete(accountId)
  for (const accountId of ended) next.delete(accountId)
  for (const terms of current) {
    const entry = next.get(terms.accountId) ?? emptyEntry(terms.accountId, slot)
    next.set(terms.accountId, { ...entry, ...terms })
  }
  const moved = [
    ...created.map((one) => ({ ...one, sign: 1n })),
    ...spent.map((one) => ({ ...one, sign: -1n })),
  ]
  for (const { output, sign } of moved) {
    if (output.type !== 5 || !isZeroId(output.delegationId)) continue
    const { accountId } = output.validatorAddress
    if (ended.has(accountId)) continue
    const entry = next.get(accountId) ?? emptyEntry(accountId, slot)
    const delegationStake = entry.delegationStake + sign * output.delegatedAmount
    next.set(accountId, { ...entry, delegationStake })
  }
}

/** The members of an entry that an output determines. */
function termsOf({ output, outputId }: BookedOutput) {
  const none = { validatorStake: 0n, fixedCost: 0n, stakeEndEpoch: 0 }
  const accountId = () => chainId(output, outputId) as AccountId
  if (output.type === 0) {
    const address = conditionOf(output, AddressUnlock)?.address
    if (address?.type !== 32) return undefined
    const keyHashes = [address.pubKeyHash]
    return { accountId: accountId(), outputId, expirySlot: 2 ** 32 - 1, keyHashes, ...none }
  }
  const issuer = featureOf(output, BlockIssuer)
  const staking = featureOf(output, Staking)
  if (output.type !== 1 || (issuer === undefined && staking === undefined)) return undefined
  return {
    accountId: accountId(),
    outputId,
    expirySlot: issuer?.expirySlot ?? 0,
    keyHashes: issuer?.blockIssuerKeys.map((key) => key.pubKeyHash) ?? [],
    validatorStake: staking?.stakedAmount ?? 0n,
    fixedCost: staking?.fixedCost ?? 0n,
    stakeEndEpoch: staking?.endEpoch ?? 0,
  }
}

/** Punishes validators with too many blocks, and notes the newest protocol version that each validator supports. */
function vote(
  parameters: ProtocolParameters,
  { slot, blocks }: SlotEffects,
  former: Accounts,
  next: Map<AccountId, AccountEntry>,
  charge: Charge,
): void {
  const { validationBlocksPerSlot, punishmentEpochs, slotsPerEpochExponent } = parameters
  const votes = blocks.filter(({ isValidation }) => isValidation).sort(byTimeAndArrival)
  for (const [issuerId, own] of groupBy(votes, (block) => block.issuerId)) {
    const excess = own.length - validationBlocksPerSlot
    const before = former.get(issuerId)
    if (excess > 0 && before !== undefined) {
      const end = slot + punishmentEpochs * 2 ** slotsPerEpochExponent
      const mana = generatedMana(parameters, before.validatorStake, slot, end)
      if (mana.ok) charge(issuerId, -BigInt(excess) * mana.value)
    }
    for (const { block } of own) {
      const entry = next.get(issuerId)
      if (entry === undefined || block.body.type !== 1) continue
      const { highestSupportedVersion: version, protocolParametersHash: hash } = block.body
      if (version <= entry.supportedVersion) continue
      next.set(issuerId, { ...entry, supportedVersion: version, supportedHash: hash })
    }
  }
}

function byTimeAndArrival(a: StoredBlock, b: StoredBlock): number {
  return Number(a.block.header.issuingTime - b.block.header.issuingTime) || a.arrival - b.arrival
}

/** Credits decay like mana; a debt decays as the unsigned number that a node stores. */
function decayed(parameters: ProtocolParameters, entry: AccountEntry, slot: SlotIndex): bigint {
  const epochs = epochOfSlot(parameters, slot) - epochOfSlot(parameters, entry.updatedSlot)
  return BigInt.asIntN(64, decay(parameters, BigInt.asUintN(64, entry.credits), epochs))
}

/** Whether an id is all zeros, as in the first output of a chain. */
export function isZeroId(id: string): boolean {
  return /^0x0+$/.test(id)
}

function emptyEntry(accountId: AccountId, slot: SlotIndex): AccountEntry {
  const none = { validatorStake: 0n, delegationStake: 0n, fixedCost: 0n, stakeEndEpoch: 0 }
  return {
    ...{ accountId, credits: 0n, updatedSlot: slot, expirySlot: 0, keyHashes: [], ...none },
    outputId: `0x${'00'.repeat(38)}` as AccountEntry['outputId'],
    ...{ supportedVersion: 0, supportedHash: `0x${'00'.repeat(32)}` },
  }
}
