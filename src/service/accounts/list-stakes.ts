import { delegationStakeOf } from '../../ledger/accounts.ts'
import { poolStakeOf } from '../../ledger/committee.ts'
import { present } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { AccountId, EpochIndex } from '../../protocol/primitives.ts'
import type { Position } from '../../store/contract/list.ts'
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
import { type NodeOfNetwork, stakeOfNode, stakesOfNode } from './node-stakes.ts'
import { stakePosition } from './stakers.ts'
import {
  candidatesOf,
  committedEpoch,
  type EpochNotBegun,
  newestStakers,
  type StakeView,
} from './validators.ts'

/** Pages of the accounts that stake. */

type Needed = Pick<Services, 'store' | 'source' | 'stakers'>

/** Lists the accounts that stake, the largest pool first. With an epoch, only its candidates are listed. */
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
  const { entries, view } = read.value
  const list: KeysetList<StakeEntry> = {
    cursors: stakeCursors,
    whole: { above: [-1n, '0x'], below: [2n ** 63n - 1n, '0x'] },
    positionOf: stakePosition,
    read: async ({ above, below }, { order, limit }) => {
      const [from, to] = [countUpTo(entries, above), countBefore(entries, below)]
      return order === 'ascending'
        ? entries.slice(from, Math.min(to, from + limit))
        : entries.slice(Math.max(from, to - limit), to).reverse()
    },
  }
  const page = await readKeysetPage(list, { ...args, sort: 'NEWEST' })
  return page.ok ? ok({ ...page.value, nodes: page.value.nodes.map(view) }) : page
}

const stakeCursors = keysetCursors({ list: 'stake', values: ['AMOUNT', 32] })

type StakeEntry = StakeView['entry']

/** The accounts that stake, ordered by `stakePosition`, and the view of each. */
interface Stakes {
  readonly entries: readonly StakeEntry[]
  view(entry: StakeEntry): StakeView
}

/** Number of entries at a place or before it. */
function countUpTo(entries: readonly StakeEntry[], place: Position): number {
  return countWhile(entries, (entry) => comparePositions(stakePosition(entry), place) <= 0)
}

function countBefore(entries: readonly StakeEntry[], place: Position): number {
  return countWhile(entries, (entry) => comparePositions(stakePosition(entry), place) < 0)
}

/** Length of the longest prefix of a list whose elements all fulfil a condition that no later element fulfils; a binary search. */
function countWhile<T>(list: readonly T[], condition: (element: T) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (condition(present(list[middle], 'an element'))) low = middle + 1
    else high = middle
  }
  return low
}

/** Reads the accounts that stake; in upstream mode, the accounts that the node lists. */
async function readStakes(
  deps: Needed,
  current: EpochIndex,
  epoch: EpochIndex | undefined,
): Promise<Result<Stakes, NotOffered | NotServedByNode>> {
  const { node, network } = deps.source
  if (node !== undefined) {
    if (epoch === undefined)
      return await stakesListedBy({ node, parameters: network.parameters }, current)
    return err({ code: 'NOT_OFFERED_BY_NODES', what: 'the candidates of an epoch' })
  }
  const view = await stakeViews(deps, current)
  const stakers = await newestStakers(deps)
  if (epoch === undefined) return ok({ entries: stakers, view })
  const candidates = await candidatesOf(deps, epoch)
  return ok({ entries: stakers.filter(({ accountId }) => candidates.has(accountId)), view })
}

async function stakesListedBy(
  of: NodeOfNetwork,
  current: EpochIndex,
): Promise<Result<Stakes, NotServedByNode>> {
  const listed = await stakesOfNode(of, current)
  if (!listed.ok) return listed
  const views = new Map(listed.value.map((view) => [view.entry, view]))
  return ok({
    entries: [...views.keys()].sort((a, b) => comparePositions(stakePosition(a), stakePosition(b))),
    view: (entry) => present(views.get(entry), 'its view'),
  })
}

/** Reads the stake of an account; `undefined` if the account stakes nothing. */
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

async function stakeViews(deps: Needed, epoch: EpochIndex): Promise<Stakes['view']> {
  const [candidates, [row]] = await Promise.all([
    candidatesOf(deps, epoch),
    deps.store.read.epochs(epoch),
  ])
  const seats = row?.epoch === epoch ? row.committee : []
  const members = new Set(seats.map(({ accountId }) => accountId))
  return (entry) => ({
    entry: { ...entry, delegationStake: delegationStakeOf(entry) },
    poolStake: poolStakeOf(entry),
    isCandidate: candidates.has(entry.accountId),
    isMember: members.has(entry.accountId),
  })
}
