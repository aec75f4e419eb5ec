import type { HealthReason } from '../health-reasons.ts'
import type { NodeCore } from '../node-core.ts'
import type { FollowingStatus } from '../source.ts'
import type { Nodes } from './nodes.ts'

/** Tracks how this process follows the nodes, and whether it is as healthy as the nodes. */

/** The progress of following in the term of this process. */
export type Progress = Omit<FollowingStatus, 'withProofs'>

export interface FollowingDeps {
  readonly core: NodeCore
  readonly nodes: Nodes
  readonly maxCommittableAge: number
  /** Whether this process begins as a standby. */
  readonly isStandby: boolean
}

export interface Following {
  report(progress: Progress): void
  /** Records that a node contradicts the committed ledger. The node is queried again. */
  contradicted(): void
  /** Records that the term of this process is over. */
  endTerm(): void
  progress(): Progress
  /** Why this process is less healthy than the nodes; `undefined` while it is as healthy. */
  fault(): HealthReason | undefined
}

/** Creates the state before the first term. */
export function createFollowing(deps: FollowingDeps): Following {
  const { core, nodes, maxCommittableAge, isStandby } = deps
  let progress: Progress = notStarted
  /** Whether this process was a standby, took over, and has not caught up with a node yet. */
  let isTakingOver = isStandby

  /** Whether this process follows a healthy node. It then lags no more than the node does. */
  function isFollowing(): boolean {
    const { state, isNodeHealthy, newestSlot = 0 } = progress
    // A node that was restored from an older state may report itself healthy, and has nothing to follow.
    const hasLostSlots = newestSlot < core.committedSlot() - nearbySlots
    return state === 'FOLLOWING' && isNodeHealthy && !hasLostSlots
  }

  /** Whether the newest commitment is recent enough. A standby has no other measure. */
  function isRecent(): boolean {
    return core.slot() - core.committedSlot() <= allowedAges * maxCommittableAge
  }

  return {
    report: (next) => {
      progress = next
      isTakingOver &&= next.state === 'CATCHING_UP' && next.isNodeHealthy
    },
    contradicted: () => {
      isTakingOver = false
    },
    endTerm: () => {
      // After a term in which following stopped or found no node, the process is unhealthy until its next term succeeds.
      isTakingOver ||= isFollowing()
      progress = notStarted
    },
    progress: () => (core.isWriting() ? progress : { ...noNode, state: 'STANDBY' }),
    /**
     * A standby that takes over stays as healthy as before: it serves the same data and forwards blocks. That ends when it finds no
     * node, or a node that it must not follow.
     */
    fault: () => {
      if (!core.isWriting()) return isRecent() ? undefined : 'COMMITMENT_OLD'
      if (isFollowing() || (isTakingOver && isRecent() && nodes.available().length > 0))
        return undefined
      return faults[progress.state]
    },
  }
}

const faults: Readonly<Record<FollowingStatus['state'], HealthReason>> = {
  STANDBY: 'COMMITMENT_OLD',
  CATCHING_UP: 'CATCHING_UP',
  FOLLOWING: 'NODE_UNHEALTHY',
  NODES_AWAY: 'NODES_AWAY',
  UNREADABLE: 'NODE_ANSWER_UNREADABLE',
  STOPPED: 'NODE_CONTRADICTED',
}

/** Maximum difference between the newest slot of the node and that of this process, in slots, that counts as caught up. */
export const nearbySlots = 2

/** The progress of a process that follows no node. */
export const noNode = {
  node: undefined,
  isNodeHealthy: false,
  newestSlot: undefined,
  contradiction: undefined,
  unreadable: undefined,
} satisfies Partial<FollowingStatus>

const notStarted: Progress = { ...noNode, state: 'CATCHING_UP' }

/**
 * Allowed age of the newest commitment, in multiples of `maxCommittableAge`. A node finalizes a slot some time after the commit, at
 * the latest when no block can refer to the slot any more.
 */
const allowedAges = 2
