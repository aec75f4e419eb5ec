import type { AccountEntry } from '../ledger/accounts.ts'
import { hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { encodeBech32 } from '../protocol/bech32.ts'
import type { Validator } from '../protocol/node-answers.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot } from '../protocol/slots.ts'
import type { StoreReader } from '../store/contract.ts'
import type { CommitteeSeat } from '../store/rows.ts'

/** The accounts that stake, and those of them that validate (rest.md 4.1). */

/** What telling needs. */
export interface ValidatorsDeps {
  readonly store: {
    readonly read: Pick<StoreReader, 'accountEntry' | 'latestMilestone' | 'epochs'>
  }
  readonly source: {
    readonly network: { readonly parameters: ProtocolParameters }
    status(): { readonly slot: SlotIndex }
  }
  readonly stakers: Stakers
}

/** All accounts that stake. */
export interface Stakers {
  /** As of the newest committed slot, the largest pool first, by id where pools are equal. */
  all(): Promise<readonly AccountEntry[]>
}

/** Reads all accounts once a slot at most, for there is no index of those that stake. */
export function createStakers(
  read: Pick<StoreReader, 'accountVersions' | 'latestMilestone'>,
): Stakers {
  let known:
    | { readonly slot: SlotIndex; readonly stakers: Promise<readonly AccountEntry[]> }
    | undefined

  async function all(): Promise<readonly AccountEntry[]> {
    const { slot } = await read.latestMilestone()
    if (known?.slot === slot) return await known.stakers
    const reading = { slot, stakers: stakersAt(read, slot) }
    known = reading
    try {
      return await reading.stakers
    } catch (failure) {
      // Whoever asks next tries again, also while no further slot is committed.
      if (known === reading) known = undefined
      throw failure
    }
  }

  return { all }
}

async function stakersAt(
  read: Pick<StoreReader, 'accountVersions'>,
  slot: SlotIndex,
): Promise<readonly AccountEntry[]> {
  const versions = await read.accountVersions(slot)
  return versions
    .flatMap((version) => (version.slot <= slot && version.entry ? [version.entry] : []))
    .filter(({ validatorStake }) => validatorStake > 0n)
    .sort(byPool)
}

function byPool(a: AccountEntry, b: AccountEntry): number {
  const [first, second] = [poolStakeOf(a), poolStakeOf(b)]
  if (first !== second) return first > second ? -1 : 1
  return a.accountId < b.accountId ? -1 : 1
}

function poolStakeOf({ validatorStake, delegationStake }: AccountEntry): bigint {
  return validatorStake + delegationStake
}

/** A place in the list of validators. */
export interface ValidatorsPlace {
  readonly epoch: EpochIndex
  readonly index: number
}

/** An epoch that has not begun. */
export interface EpochNotBegun {
  readonly code: 'EPOCH_NOT_BEGUN'
  readonly argument: string
  readonly epoch: EpochIndex
  readonly current: EpochIndex
}

/** Some validators, and where those behind them begin. */
export interface ValidatorsPage {
  readonly validators: readonly Validator[]
  readonly next: ValidatorsPlace | undefined
}

/** Lists the accounts that stake. Who comes or goes between two pages may move the others. */
export async function listValidators(
  deps: ValidatorsDeps,
  { after, pageSize }: { readonly after: ValidatorsPlace | undefined; readonly pageSize: number },
): Promise<Result<ValidatorsPage, EpochNotBegun>> {
  const current = await committedEpoch(deps)
  const { epoch, index } = after ?? { epoch: current, index: 0 }
  if (epoch > current) return err({ code: 'EPOCH_NOT_BEGUN', argument: 'cursor', epoch, current })
  const stakers = await deps.stakers.all()
  const end = index + pageSize
  return ok({
    validators: stakers.slice(index, end).map((entry) => validatorOf(deps, entry, current)),
    next: end < stakers.length ? { epoch, index: end } : undefined,
  })
}

/** An account as a validator; `undefined` where it has no entry in the accounts ledger. */
export async function readValidator(
  deps: ValidatorsDeps,
  accountId: AccountId,
): Promise<Validator | undefined> {
  const entry = await deps.store.read.accountEntry(accountId)
  return entry && validatorOf(deps, entry, await committedEpoch(deps))
}

/** The committee of an epoch. */
export interface CommitteeView {
  readonly epoch: EpochIndex
  readonly members: readonly CommitteeSeat[]
  readonly totalStake: bigint
  readonly totalValidatorStake: bigint
}

/** Reads the committee of an epoch, by default of this moment's; nobody where it is not known. */
export async function readCommittee(
  { store, source }: ValidatorsDeps,
  asked: EpochIndex | undefined,
): Promise<Result<CommitteeView, EpochNotBegun>> {
  const current = epochOfSlot(source.network.parameters, source.status().slot)
  const epoch = asked ?? current
  if (epoch > current) return err({ code: 'EPOCH_NOT_BEGUN', argument: 'epoch', epoch, current })
  const row = (await store.read.epochs(epoch)).find((one) => one.epoch === epoch)
  const members = row?.committee ?? []
  return ok({
    epoch,
    members,
    totalStake: members.reduce((sum, { poolStake }) => sum + poolStake, 0n),
    totalValidatorStake: members.reduce((sum, { validatorStake }) => sum + validatorStake, 0n),
  })
}

/** The Bech32 text of an account. */
export function accountAddress({ bech32Hrp }: ProtocolParameters, accountId: AccountId): string {
  return encodeBech32(bech32Hrp, Uint8Array.of(8, ...hexToBytes(accountId)))
}

async function committedEpoch({ store, source }: ValidatorsDeps): Promise<EpochIndex> {
  return epochOfSlot(source.network.parameters, (await store.read.latestMilestone()).slot)
}

function validatorOf(
  { source }: ValidatorsDeps,
  entry: AccountEntry,
  epoch: EpochIndex,
): Validator {
  const { accountId, validatorStake, fixedCost, stakeEndEpoch: stakingEndEpoch } = entry
  return {
    address: accountAddress(source.network.parameters, accountId),
    stakingEndEpoch,
    poolStake: poolStakeOf(entry),
    validatorStake,
    fixedCost,
    active: validatorStake > 0n && stakingEndEpoch >= epoch,
    latestSupportedProtocolVersion: entry.supportedVersion,
    latestSupportedProtocolHash: entry.supportedHash,
  }
}
