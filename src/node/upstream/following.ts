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
  /** Whether this process is healthy, as far as the following shows. */
  isHealthy(): boolean
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
    isHealthy: () => {
      if (!core.isWriting()) return isYoung()
      return isFollowing() || (isTakingOver && isYoung() && nodes.awake().length > 0)
    },
  }
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
