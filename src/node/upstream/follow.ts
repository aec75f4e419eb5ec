import { setTimeout as delay } from 'node:timers/promises'
import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { commitmentId, slotOfId } from '../../protocol/ids.ts'
import type { CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import type { Store } from '../../store/contract.ts'
import type { Contradiction } from '../contradiction.ts'
import type { LeaderTerm } from '../leader-election.ts'
import type { NodeCore } from '../node-core.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { type Following, nearbySlots, noNode } from './following.ts'
import { networkOfNode } from './initialize.ts'
import { commitmentOf, info, type NodeFacts } from './node-queries.ts'
import type { Node } from './nodes.ts'
import {
  type FetchedSlots,
  fetchSlots,
  type RoundDeps,
  type RoundFailed,
  slotsPerRound,
} from './round.ts'
import type { UpstreamNodeDeps } from './upstream-node.ts'

/** Follows the committed slots of the nodes and writes them to the log while the lease lasts. */

export interface FollowDeps
  extends Pick<UpstreamNodeDeps, 'nodes' | 'network' | 'log'>,
    Pick<RoundDeps, 'withProofs' | 'proven'> {
  readonly store: Pick<Store, 'write'> & { readonly read: Pick<Store['read'], 'milestone'> }
  readonly core: Pick<NodeCore, 'commitments' | 'committed'>
  readonly following: Pick<Following, 'report' | 'contradicted'>
}

/** Follows until the term ends, or until a write detects that the lease is lost. A contradiction ends the work, not the term. */
export async function follow(
  deps: FollowDeps,
  { term, ended }: LeaderTerm,
): Promise<LeaseLost | undefined> {
  const { nodes, store, core, following, log } = deps
  const report = createReporter(deps)
  const pace = createPace()
  const sleep = (ms: number) => delay(ms, undefined, { signal: ended }).catch(() => {})
  let former = await core.commitments.reload()
  let wasContradicted = false
  let unreadable: AnswerUnreadable | undefined

  while (!ended.aborted) {
    const isNoneAvailable = nodes.candidates().length === 0
    const choice = await chooseNode(deps, former)
    const fetched = choice.ok
      ? await fetchFrom(deps, choice.value, { former, slots: pace.slots() })
      : choice
    if (ended.aborted) break
    if (choice.ok && fetched.ok) {
      const { slots, committed } = fetched.value
      if (slots.length > 0) {
        const tip = await store.write.followSlots(term, slots)
        if (!tip.ok) return tip.error
        former = committed.at(-1) ?? former
        core.committed(committed, tip.value.seq)
        choice.value.node.followed()
      }
      wasContradicted = false
      unreadable = undefined
      pace.succeeded()
      report(choice.value, former)
      if (former.commitment.slot >= choice.value.newestSlot) await sleep(pollMs)
      continue
    }
    const error = fetched.ok ? undefined : fetched.error
    const isUnreadable = error?.code === 'NODE_ANSWER_UNREADABLE'
    if (error === undefined || isUnreadable || error.code === 'NODE_FAILED') {
      // The node responds, but its responses cannot be followed.
      if (choice.ok && error !== undefined) {
        choice.value.node.unfollowed(isUnreadable ? error : error.reason)
        pace.failed()
      }
      // While no node can be queried, the last unreadable response stays the state.
      if (isUnreadable) unreadable = error
      else if (!isNoneAvailable) unreadable = undefined
      report(undefined, former, unreadable)
      await sleep(pollMs)
      continue
    }
    // The first contradiction may be caused by a reorganization of the node during the queries. The second one is not.
    log.warn('node-contradicts', { ...error })
    following.contradicted()
    if (wasContradicted) await stop(deps, ended, error)
    wasContradicted = true
    await sleep(contradictionMs)
  }
  return undefined
}

function fetchFrom(
  { store, withProofs, proven, network }: FollowDeps,
  { node, newestSlot }: Chosen,
  { former, slots }: { readonly former: CommittedSlot; readonly slots: number },
): Promise<Result<FetchedSlots, RoundFailed>> {
  const { parameters } = network
  const round = { write: store.write, withProofs, proven, parameters }
  const upTo = Math.min(newestSlot, former.commitment.slot + slots)
  return fetchSlots(round, node, { former, upTo })
}

/** The maximum number of slots of a round. A failure loses the whole round, so a slow or busy node needs short rounds to be followed. */
function createPace() {
  let slots = slotsPerRound
  return {
    slots: () => slots,
    succeeded: () => {
      slots = Math.min(slots * 2, slotsPerRound)
    },
    failed: () => {
      slots = Math.max(Math.floor(slots / 4), 1)
    },
  }
}

/** Reports the progress, and logs it every `progressMs` while many slots remain. */
function createReporter({ following, log }: FollowDeps) {
  let loggedAt = 0
  return (
    chosen: Chosen | undefined,
    { commitment: { slot } }: CommittedSlot,
    unreadable?: AnswerUnreadable,
  ): void => {
    const newestSlot = chosen?.newestSlot
    const behind = (newestSlot ?? 0) - slot
    const without = unreadable === undefined ? 'NODES_AWAY' : 'UNREADABLE'
    const state =
      chosen === undefined ? without : behind > nearbySlots ? 'CATCHING_UP' : 'FOLLOWING'
    const isNodeHealthy = chosen?.isHealthy ?? false
    const node = chosen?.node.number ?? unreadable?.node
    following.report({
      state,
      node,
      isNodeHealthy,
      newestSlot,
      contradiction: undefined,
      unreadable,
    })
    if (state !== 'CATCHING_UP' || performance.now() < loggedAt + progressMs) return
    loggedAt = performance.now()
    log.info('catching-up', { slot, remaining: behind })
  }
}

/** Stops writing until the program is restarted, so that an operator can find out which side is right. */
async function stop(
  { following, log }: FollowDeps,
  ended: AbortSignal,
  contradiction: Contradiction,
): Promise<void> {
  log.error('following-stopped', { ...contradiction })
  following.report({ ...noNode, state: 'STOPPED', contradiction })
  if (ended.aborted) return
  await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }))
}

interface Chosen {
  readonly node: Node
  /** The newest slot up to which the node can be followed. */
  readonly newestSlot: SlotIndex
  readonly isHealthy: boolean
}

/** Chooses the first healthy node that does not lag this process, otherwise the node with the newest slot. */
async function chooseNode(
  deps: FollowDeps,
  former: CommittedSlot,
): Promise<Result<Chosen, RoundFailed>> {
  let furthest: Chosen | undefined
  for (const node of deps.nodes.candidates()) {
    const facts = await node.fetch(info())
    if (!facts.ok || facts.value === undefined) {
      node.backOff(facts.ok ? 'its info is missing' : facts.error.reason)
      continue
    }
    if (networkOfNode(facts.value)?.parametersHash !== deps.network.parametersHash) {
      node.reject('it belongs to another network')
      continue
    }
    const contradiction = await disagreement(deps, former, { node, facts: facts.value })
    if (contradiction === 'NOT_FINAL') {
      node.backOff('it has another commitment to a followed slot, which it may still give up')
      continue
    }
    if (contradiction !== undefined) return err(contradiction)
    const newestSlot = newestFinal(facts.value)
    const { isHealthy } = facts.value.status
    const chosen = { node, newestSlot, isHealthy }
    if (isHealthy && newestSlot >= former.commitment.slot) return ok(chosen)
    if (furthest === undefined || newestSlot > furthest.newestSlot) furthest = chosen
  }
  return furthest === undefined
    ? err({ code: 'NODE_FAILED', node: 0, reason: 'no node responds' })
    : ok(furthest)
}

/** The newest finalized slot. Only finalized slots are followed, because a node may still drop a later commitment. */
function newestFinal({ status }: NodeFacts): SlotIndex {
  return Math.min(slotOfId(status.latestCommitmentId), status.latestFinalizedSlot)
}

/**
 * The contradiction if the node has another final commitment to a slot that is committed here. NOT_FINAL: only a later commitment
 * differs, which the node may still give up. A lagging node does not disagree.
 */
async function disagreement(
  { store }: FollowDeps,
  former: CommittedSlot,
  { node, facts }: { readonly node: Node; readonly facts: NodeFacts },
): Promise<Contradiction | 'NOT_FINAL' | undefined> {
  const newest = facts.status.latestCommitmentId
  if (slotOfId(newest) > former.commitment.slot) return undefined
  const contradiction = await differenceFrom(newest)
  const final = newestFinal(facts)
  if (contradiction === undefined || final === contradiction.slot) return contradiction
  const answer = await node.fetch(commitmentOf(final))
  const served = answer.ok ? answer.value : undefined
  return (served && (await differenceFrom(commitmentId(served)))) ?? 'NOT_FINAL'

  async function differenceFrom(told: CommitmentId): Promise<Contradiction | undefined> {
    const slot = slotOfId(told)
    const expected =
      slot === former.commitment.slot
        ? former.commitmentId
        : (await store.read.milestone(slot))?.commitmentId
    if (expected === undefined || expected === told) return undefined
    return { code: 'COMMITMENT_OF_ANOTHER_CHAIN', slot, expected, told }
  }
}

/** Milliseconds between two queries for new slots. */
const pollMs = 300

/** Milliseconds between a contradiction and the second attempt. */
const contradictionMs = 1_000

/** Milliseconds between two log lines while many slots remain. */
const progressMs = 5_000
