import type { HealthReason } from '../health-reasons.ts'
import type { NodeCore } from '../node-core.ts'
import type { FollowingStatus } from '../source.ts'
import type { Nodes } from './nodes.ts'

/** How the following goes, and whether this process serves as well as the nodes do. */

/** The progress of the term of this process. */
export type Progress = Omit<FollowingStatus, 'withProofs'>

/** What judging the following needs. */
export interface FollowingDeps {
  readonly core: NodeCore
  readonly nodes: Nodes
  readonly maxCommittableAge: number
  /** Whether this process begins as a standby. */
  readonly isStandby: boolean
}

/** The state of the following. */
export interface Following {
  /** Takes in how it goes. */
  report(progress: Progress): void
  /** A node contradicts what is committed here, and is asked again. */
  doubt(): void
  /** The term of this process is over. */
  endTerm(): void
  progress(): Progress
  /** Why this process does not serve as well as the nodes do; `undefined` while it does. */
  fault(): HealthReason | undefined
}

/** Creates the state before the first term. */
export function createFollowing(deps: FollowingDeps): Following {
  const { core, nodes, maxCommittableAge, isStandby } = deps
  let progress: Progress = notStarted
  /** Whether a standby took over and has not caught up with a node yet. */
  let isTakingOver = isStandby

  /** A process that follows a node lags as much as the node does. */
  function isFollowing(): boolean {
    return progress.state === 'FOLLOWING' && progress.isNodeHealthy
  }

  /** Whether what is committed is young enough: a standby has nothing else to judge by. */
  function isYoung(): boolean {
    return core.slot() - core.committedSlot() <= allowedAges * maxCommittableAge
  }

  return {
    report: (next) => {
      progress = next
      isTakingOver &&= next.state === 'CATCHING_UP' && next.isNodeHealthy
    },
    doubt: () => {
      isTakingOver = false
    },
    endTerm: () => {
      // After a term whose following stopped or found no node, the process is not healthy until its next term succeeds.
      isTakingOver ||= isFollowing()
      progress = notStarted
    },
    progress: () => (core.isWriting() ? progress : { ...noNode, state: 'STANDBY' }),
    /**
     * A standby that takes over is as healthy as it was before: it serves the same and forwards blocks. That ends when it
     * finds no node, or one that it must not follow.
     */
    fault: () => {
      if (!core.isWriting()) return isYoung() ? undefined : 'COMMITMENT_OLD'
      if (isFollowing() || (isTakingOver && isYoung() && nodes.awake().length > 0)) return undefined
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

const noNode = {
  node: undefined,
  isNodeHealthy: false,
  newestSlot: undefined,
  contradiction: undefined,
  unreadable: undefined,
} satisfies Partial<FollowingStatus>

const notStarted: Progress = { ...noNode, state: 'CATCHING_UP' }

/** A node finalizes a slot some time after it committed it, and at the latest when no block can refer to it any more. */
const allowedAges = 2
