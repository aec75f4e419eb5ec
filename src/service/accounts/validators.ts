import type { AccountEntry } from '../../ledger/accounts.ts'
import { isCandidacy, poolStakeOf } from '../../ledger/committee.ts'
import { hexToBytes } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { AccountAddress } from '../../protocol/addresses.ts'
import { encodeBech32 } from '../../protocol/bech32.ts'
import { Block } from '../../protocol/block.ts'
import { slotOfId } from '../../protocol/ids.ts'
import type { Validator } from '../../protocol/node-responses.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { CommitteeSeat, EpochRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** Validators, candidates and committees (rest.md 4.1). */

type Needed = Pick<Services, 'store' | 'source' | 'stakers'>

export interface ValidatorsPosition {
  readonly epoch: EpochIndex
  readonly index: number
}

/** An account that stakes, as of the newest milestone. */
export interface StakeView {
  readonly entry: Pick<
    AccountEntry,
    | 'accountId'
    | 'validatorStake'
    | 'delegationStake'
    | 'fixedCost'
    | 'stakeEndEpoch'
    | 'supportedVersion'
  >
  /** Base tokens of the account's own stake and of all delegations to it. */
  readonly poolStake: bigint
  /** Whether the account announced its candidacy in the epoch of the newest milestone. */
  readonly isCandidate: boolean
  /** Whether the account is in the committee of that epoch. */
  readonly isMember: boolean
}

export interface EpochNotBegun {
  readonly code: 'EPOCH_NOT_BEGUN'
  readonly argument: string
  readonly epoch: EpochIndex
  readonly current: EpochIndex
}

/** A page of validators, and the position of the next page. */
export interface ValidatorsPage {
  readonly validators: readonly Validator[]
  readonly next: ValidatorsPosition | undefined
}

/**
 * Lists the registered candidates of an epoch: the accounts that announced their candidacy in it and whose stake ends after it.
 * The largest pool is first, equal pools are in the order of addresses. A candidate that appears or disappears between two
 * pages may shift the others.
 */
export async function listValidators(
  deps: Needed,
  {
    after,
    pageSize,
  }: { readonly after: ValidatorsPosition | undefined; readonly pageSize: number },
): Promise<Result<ValidatorsPage, EpochNotBegun>> {
  const current = await committedEpoch(deps)
  const { epoch, index } = after ?? { epoch: current, index: 0 }
  if (epoch > current) return err({ code: 'EPOCH_NOT_BEGUN', argument: 'cursor', epoch, current })
  const candidates = await candidatesOf(deps, epoch)
  const registered = (await newestStakers(deps))
    .filter(({ accountId, stakeEndEpoch }) => candidates.has(accountId) && stakeEndEpoch > epoch)
    .reverse()
  const end = index + pageSize
  return ok({
    validators: sliceByPool(registered, index, end, (entry) =>
      validatorOf(deps, entry, candidates),
    ),
    next: end < registered.length ? { epoch, index: end } : undefined,
  })
}

/**
 * Part of a list that is sorted by descending pool, as validators. Equal pools are in the order of a node: by the text of
 * their addresses, not by the bytes.
 */
function sliceByPool(
  entries: readonly AccountEntry[],
  from: number,
  to: number,
  validatorOfEntry: (entry: AccountEntry) => Validator,
): readonly Validator[] {
  const isOfPool = (at: number, other: number) => {
    const [a, b] = [entries[at], entries[other]]
    return a !== undefined && b !== undefined && poolStakeOf(a) === poolStakeOf(b)
  }
  let first = from
  while (isOfPool(first - 1, from)) first--
  let last = Math.min(to, entries.length)
  while (isOfPool(last, to - 1)) last++
  const sorted = entries.slice(first, last).map(validatorOfEntry).sort(byPool)
  return sorted.slice(from - first, to - first)
}

function byPool(a: Validator, b: Validator): number {
  if (a.poolStake !== b.poolStake) return a.poolStake > b.poolStake ? -1 : 1
  return a.address < b.address ? -1 : 1
}

/** Reads an account as a validator; `undefined` if it has no entry in the accounts ledger. */
export async function readValidator(
  deps: Needed,
  accountId: AccountId,
): Promise<Validator | undefined> {
  const entry = await deps.store.read.accountEntry(accountId)
  return entry && validatorOf(deps, entry, await candidatesOf(deps, await committedEpoch(deps)))
}

/** Reads the accounts that stake as of the newest committed slot, the smallest pool first. */
export async function newestStakers({
  store,
  stakers,
}: Pick<Services, 'store' | 'stakers'>): Promise<readonly AccountEntry[]> {
  return await stakers.at((await store.read.latestMilestone()).slot)
}

/** Reads the accounts that announced their candidacy in an epoch, in committed slots or in accepted blocks of later slots. */
export async function candidatesOf(
  { store, source }: Pick<Services, 'store' | 'source'>,
  epoch: EpochIndex,
): Promise<ReadonlySet<AccountId>> {
  const { read } = store
  const { parameters } = source.network
  const { slot: committed } = await read.latestMilestone()
  const row = await readEpochRow({ store }, epoch)
  const candidates = new Set(row?.candidates)
  const last = lastSlotOfEpoch(parameters, epoch)
  const accepted = committed < last ? await read.blocksOfKind('candidacy', committed + 1, last) : []
  for (const { blockId, issuerId, slot } of accepted) {
    const block = candidates.has(issuerId) ? undefined : await read.block(blockId)
    const announcement = block && decode(Block, block.bytes)
    if (announcement?.ok !== true) continue
    const issuer = await read.accountEntry(
      issuerId,
      slotOfId(announcement.value.header.slotCommitmentId),
    )
    if (isCandidacy(parameters, { slot }, issuer)) candidates.add(issuerId)
  }
  return candidates
}

export interface CommitteeView {
  readonly epoch: EpochIndex
  readonly members: readonly CommitteeSeat[]
  readonly totalStake: bigint
  readonly totalValidatorStake: bigint
}

/** Reads the committee of an epoch, by default the current epoch; without members if the committee is not known. */
export async function readCommittee(
  { store, source }: Pick<Services, 'store' | 'source'>,
  wanted: EpochIndex | undefined,
): Promise<Result<CommitteeView, EpochNotBegun>> {
  const current = epochOfSlot(source.network.parameters, source.status().slot)
  const epoch = wanted ?? current
  if (epoch > current) return err({ code: 'EPOCH_NOT_BEGUN', argument: 'epoch', epoch, current })
  const row = await readEpochRow({ store }, epoch)
  const members = row?.committee ?? []
  return ok({
    epoch,
    members,
    totalStake: members.reduce((sum, { poolStake }) => sum + poolStake, 0n),
    totalValidatorStake: members.reduce((sum, { validatorStake }) => sum + validatorStake, 0n),
  })
}

/** Reads the stored row of an epoch; `undefined` if there is none. */
export async function readEpochRow(
  { store }: Pick<Services, 'store'>,
  epoch: EpochIndex,
): Promise<EpochRow | undefined> {
  return (await store.read.epochs(epoch)).find((row) => row.epoch === epoch)
}

/** The Bech32 address of an account. */
export function accountAddress({ bech32Hrp }: ProtocolParameters, accountId: AccountId): string {
  return encodeBech32(bech32Hrp, Uint8Array.of(AccountAddress.code, ...hexToBytes(accountId)))
}

/** The epoch of the newest committed slot. */
export async function committedEpoch({
  store,
  source,
}: Pick<Services, 'store' | 'source'>): Promise<EpochIndex> {
  return epochOfSlot(source.network.parameters, (await store.read.latestMilestone()).slot)
}

function validatorOf(
  { source }: Pick<Services, 'source'>,
  entry: AccountEntry,
  candidates: ReadonlySet<AccountId>,
): Validator {
  const { accountId, validatorStake, fixedCost, stakeEndEpoch: stakingEndEpoch } = entry
  return {
    address: accountAddress(source.network.parameters, accountId),
    stakingEndEpoch,
    poolStake: poolStakeOf(entry),
    validatorStake,
    fixedCost,
    active: candidates.has(accountId),
    latestSupportedProtocolVersion: entry.supportedVersion,
    latestSupportedProtocolHash: entry.supportedHash,
  }
}
