import { delegationStakeOf } from '../../ledger/accounts.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode, UpstreamNode } from '../../node/source.ts'
import { AccountAddress, Address } from '../../protocol/addresses.ts'
import { decodeBech32 } from '../../protocol/bech32.ts'
import { is } from '../../protocol/is.ts'
import { Committee, Validator, Validators } from '../../protocol/node-responses.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { CommitteeSeat } from '../../store/rows.ts'
import { accountAddress, type StakeView } from './validators.ts'

/** Reads validators and committees from a node (rest.md 4.1). */

export interface NodeOfNetwork {
  readonly node: UpstreamNode
  readonly parameters: ProtocolParameters
}

/** Reads the seats of the committee of an epoch; an empty list if the node does not know the epoch. */
export async function seatsOfNode(
  { node }: NodeOfNetwork,
  epoch: EpochIndex,
): Promise<Result<readonly CommitteeSeat[], NotServedByNode>> {
  const answer = await node.fetch(`/committee?epoch=${epoch}`, Committee)
  if (!answer.ok) return answer
  // A node ignores a parameter that it does not know, and would return the committee of the current epoch.
  const told = answer.value?.epoch ?? epoch
  if (told !== epoch) {
    return err({ code: 'NOT_TOLD_BY_NODE', what: `the committee of epoch ${epoch}` })
  }
  return withAccountIds(answer.value?.committee ?? [])
}

/** Reads the accounts that the node lists: the accounts that announced their candidacy in the epoch of its newest slot. */
export async function stakesOfNode(
  of: NodeOfNetwork,
  epoch: EpochIndex,
): Promise<Result<readonly StakeView[], NotServedByNode>> {
  const found: Validator[] = []
  let cursor = ''
  for (let n = 0; n < maxPages; n++) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await of.node.fetch(`/validators?pageSize=1000${query}`, Validators)
    if (!answer.ok) return answer
    found.push(...(answer.value?.validators ?? []))
    cursor = answer.value?.cursor ?? ''
    if (cursor === '') return await viewsOf(of, epoch, found)
  }
  return err({ code: 'NOT_TOLD_BY_NODE', what: `all of more than ${found.length} validators` })
}

/** Reads the stake of an account from the node; `undefined` if the account stakes nothing. */
export async function stakeOfNode(
  of: NodeOfNetwork,
  epoch: EpochIndex,
  accountId: AccountId,
): Promise<Result<StakeView | undefined, NotServedByNode>> {
  const address = accountAddress(of.parameters, accountId)
  const answer = await of.node.fetch(`/validators/${address}`, Validator)
  if (!answer.ok) return answer
  const { value } = answer
  const stakes = value !== undefined && value.validatorStake > 0n
  const views = await viewsOf(of, epoch, stakes ? [value] : [])
  return views.ok ? ok(views.value[0]) : views
}

/** Maximum number of pages that are requested from a node. A network has fewer validators. */
const maxPages = 20

async function viewsOf(
  of: NodeOfNetwork,
  epoch: EpochIndex,
  validators: readonly Validator[],
): Promise<Result<readonly StakeView[], NotServedByNode>> {
  const seats = await seatsOfNode(of, epoch)
  if (!seats.ok) return seats
  const members = new Set(seats.value.map(({ accountId }) => accountId))
  const named = withAccountIds(validators)
  if (!named.ok) return named
  const views = named.value.map((one): StakeView => {
    const { accountId, poolStake, validatorStake, fixedCost } = one
    return {
      entry: {
        accountId,
        validatorStake,
        // A node may report a smaller pool than its own stake: see `delegationStakeOf`.
        delegationStake: delegationStakeOf({ delegationStake: poolStake - validatorStake }),
        fixedCost,
        stakeEndEpoch: one.stakingEndEpoch,
        supportedVersion: one.latestSupportedProtocolVersion,
      },
      poolStake,
      isCandidate: one.active,
      isMember: members.has(accountId),
    }
  })
  return ok(views)
}

/** Adds to each element the account id in its address. */
function withAccountIds<T extends { readonly address: string }>(
  given: readonly T[],
): Result<readonly (T & { readonly accountId: AccountId })[], NotServedByNode> {
  const named: (T & { readonly accountId: AccountId })[] = []
  for (const one of given) {
    const accountId = accountIdIn(one.address)
    if (accountId === undefined) {
      const unreadable = `${one.address} is not an account address`
      return err({ code: 'NOT_TOLD_BY_NODE', what: 'validators', unreadable })
    }
    named.push({ ...one, accountId })
  }
  return ok(named)
}

function accountIdIn(text: string): AccountId | undefined {
  const decoded = decodeBech32(text)
  const address = decoded.ok ? decode(Address, decoded.value.bytes) : decoded
  return address.ok && is(AccountAddress, address.value) ? address.value.accountId : undefined
}
