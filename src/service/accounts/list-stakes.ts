import type { AccountEntry } from '../../ledger/accounts.ts'
import { poolStakeOf } from '../../ledger/committee.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { AccountId, EpochIndex } from '../../protocol/primitives.ts'
import {
  cursorOf,
  type ListPage,
  type PageError,
  type PageQuestion,
  readPage,
} from '../chains/page.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import { stakeOfNode, stakesOfNode } from './node-stakes.ts'
import {
  candidatesOf,
  committedEpoch,
  type EpochNotBegun,
  newestStakers,
  type StakeView,
} from './validators.ts'

/** The accounts that stake, in the form of a list. */

type Needed = Pick<Services, 'store' | 'source' | 'stakers'>

/** Why a list of stakes is refused. */
export type StakesError = EpochNotBegun | NotOffered | NotServedByNode | PageError

/** Lists the accounts that stake, the largest pool first; of an epoch those that were candidates in it. */
export async function listStakes(
  deps: Needed,
  { epoch, ...question }: Omit<PageQuestion, 'sort'> & { readonly epoch: EpochIndex | undefined },
): Promise<Result<ListPage<StakeView>, StakesError>> {
  const current = await committedEpoch(deps)
  if (epoch !== undefined && epoch > current) {
    return err({ code: 'EPOCH_NOT_BEGUN', argument: 'epoch', epoch, current })
  }
  const read = await readStakes(deps, current, epoch)
  if (!read.ok) return read
  const stakes = read.value.toSorted(compare)
  return await readPage<StakeView, StakePosition>(
    { ...question, sort: 'NEWEST' },
    {
      parse: parsePosition,
      positionOf: (stake) => stake,
      compare: (a, b) => compare(a, b),
      read: async ({ above, below, order, limit }) => {
        const inside = stakes.filter(
          (one) =>
            (above === undefined || compare(one, above) > 0) &&
            (below === undefined || compare(one, below) < 0),
        )
        return (order === 'ascending' ? inside : inside.reverse()).slice(0, limit)
      },
    },
  )
}

/** The accounts that stake; in upstream mode those that the node lists. */
async function readStakes(
  deps: Needed,
  current: EpochIndex,
  epoch: EpochIndex | undefined,
): Promise<Result<readonly StakeView[], NotOffered | NotServedByNode>> {
  const { node, network } = deps.source
  if (node !== undefined) {
    if (epoch === undefined)
      return await stakesOfNode({ node, parameters: network.parameters }, current)
    return err({ code: 'NOT_OFFERED_BY_NODES', what: 'the candidates of an epoch' })
  }
  const view = await stakeViews(deps, current)
  const among = epoch === undefined ? undefined : await candidatesOf(deps, epoch)
  const stakers = await newestStakers(deps)
  return ok(stakers.filter(({ accountId }) => among?.has(accountId) !== false).map(view))
}

/** Reads the stake of an account; `undefined` where it stakes nothing. */
export async function readStake(
  deps: Needed,
  accountId: AccountId,
): Promise<Result<StakeView | undefined, NotServedByNode>> {
  const { node, network } = deps.source
  if (node !== undefined) {
    return await stakeOfNode(
      { node, parameters: network.parameters },
      await committedEpoch(deps),
      accountId,
    )
  }
  const entry = await deps.store.read.accountEntry(accountId)
  if (entry === undefined || entry.validatorStake === 0n) return ok(undefined)
  return ok((await stakeViews(deps, await committedEpoch(deps)))(entry))
}

async function stakeViews(
  deps: Needed,
  epoch: EpochIndex,
): Promise<(entry: AccountEntry) => StakeView> {
  const [candidates, [row]] = await Promise.all([
    candidatesOf(deps, epoch),
    deps.store.read.epochs(epoch),
  ])
  const seats = row?.epoch === epoch ? row.committee : []
  const members = new Set(seats.map(({ accountId }) => accountId))
  return (entry) => ({
    entry,
    poolStake: poolStakeOf(entry),
    isCandidate: candidates.has(entry.accountId),
    isMember: members.has(entry.accountId),
  })
}

/** A place in the order of pools; there need be no validator. */
interface StakePosition {
  readonly poolStake: bigint
  readonly entry: Pick<AccountEntry, 'accountId'>
}

function compare(a: StakePosition, b: StakePosition): number {
  if (a.poolStake !== b.poolStake) return a.poolStake < b.poolStake ? -1 : 1
  const [first, second] = [a.entry.accountId, b.entry.accountId]
  if (first === second) return 0
  return first < second ? -1 : 1
}

/** The cursor of a validator: its place by the stake of its pool. */
export function encodeStakeCursor({ poolStake, entry }: StakePosition): string {
  return cursorOf(`${poolStake}.${entry.accountId}`)
}

function parsePosition(text: string): StakePosition | undefined {
  const [, stake, id] = /^([0-9]{1,20})\.(0x[0-9a-f]{64})$/.exec(text) ?? []
  if (stake === undefined || id === undefined) return undefined
  return { poolStake: BigInt(stake), entry: { accountId: id as AccountId } }
}
