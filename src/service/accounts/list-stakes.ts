import type { AccountEntry } from '../../ledger/accounts.ts'
import { poolStakeOf } from '../../ledger/committee.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { AccountId, EpochIndex } from '../../protocol/primitives.ts'
import { comparePositions } from '../../store/positions.ts'
import { keysetCursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
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

/** Lists the accounts that stake, the largest pool first; of an epoch those that were candidates in it. */
export async function listStakes(
  deps: Needed,
  epoch: EpochIndex | undefined,
  args: Omit<PageArguments, 'sort'>,
): Paged<StakeView, EpochNotBegun | NotOffered | NotServedByNode> {
  const current = await committedEpoch(deps)
  if (epoch !== undefined && epoch > current) {
    return err({ code: 'EPOCH_NOT_BEGUN', argument: 'epoch', epoch, current })
  }
  const read = await readStakes(deps, current, epoch)
  if (!read.ok) return read
  const stakes = read.value.toSorted((a, b) => comparePositions(placeOf(a), placeOf(b)))
  const list: KeysetList<StakeView> = {
    cursors: stakeCursors,
    whole: { above: [-1n, '0x'], below: [2n ** 63n - 1n, '0x'] },
    positionOf: placeOf,
    read: async ({ above, below }, { order, limit }) => {
      const inside = stakes.filter(
        (one) =>
          comparePositions(placeOf(one), above) > 0 && comparePositions(placeOf(one), below) < 0,
      )
      return (order === 'ascending' ? inside : inside.reverse()).slice(0, limit)
    },
  }
  return await readKeysetPage(list, { ...args, sort: 'NEWEST' })
}

const stakeCursors = keysetCursors({ list: 'stake', values: ['AMOUNT', 32] })

function placeOf({ poolStake, entry }: StakeView) {
  return [poolStake, entry.accountId] as const
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
