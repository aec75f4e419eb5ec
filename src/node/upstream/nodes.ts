import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { type NodeRequest, type NodeResponse, type NodeSilent, sendRequest } from './client.ts'
import { info, type NodeQuery } from './node-queries.ts'

/**
 * The nodes of upstream mode. The followed node is queried first, then the others in the order of the list. A node that does not
 * respond is not queried for a while.
 */

export interface NodesDeps {
  /** Without a trailing slash; at least one. */
  readonly urls: readonly string[]
  readonly log: Log
}

export interface Node {
  /** Its number in the list, from 1. */
  readonly number: number
  /** Sends a query; `undefined` if the node does not have the item. A silent or busy node is not queried for a while. */
  fetch<T>(query: NodeQuery<T>): Promise<Result<T | undefined, NodeFailed | AnswerUnreadable>>
  /** Like `fetch`, but repeats the query for some seconds while the node limits the rate of requests (429). */
  fetchInRate<T>(query: NodeQuery<T>): Promise<Result<T | undefined, NodeFailed | AnswerUnreadable>>
  /** Sends a request without parsing the response. */
  send(request: NodeRequest): Promise<Result<NodeResponse, NodeSilent>>
  /** Excludes a node with useless responses for a while, longer every time, until `followed` is called. */
  backOff(why: string | AnswerUnreadable): void
  /** Excludes a node of another network in the same way. It is not available until it is followed, even when the time has passed. */
  reject(why: string): void
  /** Excludes a node whose slots could not be fetched. While there are others, it is a candidate more rarely every time. */
  unfollowed(why: string | AnswerUnreadable): void
  /** Records that slots of the node were followed: it was useful, and is queried first from now on. */
  followed(): void
}

/** The node did not respond, or refused the request. `reason` is for the log. */
export interface NodeFailed {
  readonly code: 'NODE_FAILED'
  /** Its number in the list, from 1; 0 for no node. */
  readonly node: number
  readonly reason: string
}

/** No node responds. */
export interface NodesAway {
  readonly code: 'NODES_AWAY'
}

export interface Nodes {
  /** The nodes that may be queried for clients now, the followed one first. */
  available(): readonly Node[]
  /** The nodes that may be followed now, in the order of the list. They have to be checked first. */
  candidates(): readonly Node[]
  /** Queries one node after another until one has the item. `undefined` if one of them responds that it does not have it. */
  fetch<T>(query: NodeQuery<T>): Promise<Result<T | undefined, NodesAway | AnswerUnreadable>>
  /** Aborts the requests in flight. */
  close(): void
}

interface BackOff {
  /** End of the back-off, by `performance.now()`. */
  readonly until: number
  readonly ms: number
  /** Whether any response ends the back-off. */
  readonly isSilence: boolean
  /** End of the time in which the node is not available. */
  readonly rejectedUntil: number
}

const noBackOff = { until: 0, ms: 0, isSilence: true, rejectedUntil: 0 } satisfies BackOff

/** Opens the list. Sends no request yet. */
export function openNodes({ urls, log }: NodesDeps): Nodes {
  const closed = new AbortController()
  const backOffs = new Map<number, BackOff>()
  const failedRounds: Shared['failedRounds'] = new Map()
  const shared: Shared = { closed: closed.signal, backOffs, failedRounds, log, followed: undefined }
  const nodes = urls.map((url, i) => createNode(shared, url, i + 1))

  function candidates(): readonly Node[] {
    const now = performance.now()
    const rested = nodes.filter(({ number }) => (backOffs.get(number)?.until ?? 0) <= now)
    const useful = rested.filter(({ number }) => (failedRounds.get(number)?.until ?? 0) <= now)
    return useful.length > 0 ? useful : rested
  }

  function available(): readonly Node[] {
    const now = performance.now()
    const rank = ({ number }: Node) => (number === shared.followed ? 0 : 1)
    const isOver = ({ until, rejectedUntil }: BackOff) => Math.max(until, rejectedUntil) <= now
    return nodes
      .filter(({ number }) => isOver(backOffs.get(number) ?? noBackOff))
      .toSorted((a, b) => rank(a) - rank(b))
  }

  async function fetchAnswer<T>(
    query: NodeQuery<T>,
  ): Promise<Result<T | undefined, NodesAway | AnswerUnreadable>> {
    let unreadable: AnswerUnreadable | undefined
    let isAbsent = false
    for (const node of available()) {
      const answer = await node.fetch(query)
      if (answer.ok && answer.value !== undefined) return answer
      isAbsent ||= answer.ok
      if (answer.ok) continue
      log.debug('node-failed', { node: node.number, reason: answer.error.reason })
      if (answer.error.code === 'NODE_ANSWER_UNREADABLE') unreadable ??= answer.error
    }
    return isAbsent ? ok(undefined) : err(unreadable ?? ({ code: 'NODES_AWAY' } as const))
  }

  return { available, candidates, fetch: fetchAnswer, close: () => closed.abort() }
}

interface Shared {
  readonly closed: AbortSignal
  /** By node number. */
  readonly backOffs: Map<number, BackOff>
  /** Rounds since the node was followed last, and the end of the time in which others are preferred, by node number. */
  readonly failedRounds: Map<number, { readonly count: number; readonly until: number }>
  readonly log: Log
  /** The number of the node that was followed last. */
  followed: number | undefined
}

function createNode(shared: Shared, url: string, number: number): Node {
  const { closed, backOffs, failedRounds, log } = shared

  let hasLimited = false
  let asking: NodeJS.Timeout | undefined

  async function send(request: NodeRequest): Promise<Result<NodeResponse, NodeSilent>> {
    return noted(await sendRequest(url, request, closed))
  }

  async function sendInRate(request: NodeRequest): Promise<Result<NodeResponse, NodeSilent>> {
    for (let n = 1; ; n++) {
      const answer = await sendRequest(url, request, closed)
      if (!answer.ok || answer.value.status !== 429 || n === maxAttempts) return noted(answer)
      if (!hasLimited) log.info('node-limits-rate', { node: number })
      hasLimited = true
      const ms = Math.min((answer.value.retryAfterSeconds ?? 1) * 1_000, maxWaitMs)
      await delay(Math.max(ms, minWaitMs), undefined, { signal: closed }).catch(() => {})
    }
  }

  /** Records whether the node has responded. */
  function noted(answer: Result<NodeResponse, NodeSilent>): Result<NodeResponse, NodeSilent> {
    if (!answer.ok) backOff(answer.error.reason, 'SILENT')
    else if (busyStatuses.includes(answer.value.status)) backOff(statusOf(answer.value), 'SILENT')
    else if (backOffs.get(number)?.isSilence === true) recovered()
    return answer
  }

  function read<T>(
    query: NodeQuery<T>,
    answer: Result<NodeResponse, NodeSilent>,
  ): Result<T | undefined, NodeFailed | AnswerUnreadable> {
    if (!answer.ok) return err({ code: 'NODE_FAILED', node: number, reason: answer.error.reason })
    const item = query.read(answer.value)
    if (item.ok) return item
    const { reason, isUnreadable, outputId = query.outputId } = item.error
    if (!isUnreadable) return err({ code: 'NODE_FAILED', node: number, reason })
    const { slot, request } = query
    const about = { path: request.path, slot, outputId, reason }
    return err({ code: 'NODE_ANSWER_UNREADABLE', node: number, ...about })
  }

  function backOff(
    reason: string | AnswerUnreadable,
    why: 'SILENT' | 'USELESS' | 'REJECTED',
  ): void {
    if (closed.aborted) return
    const former = backOffs.get(number)
    const now = performance.now()
    // Many concurrent requests may fail together. They count as one failure.
    if (former !== undefined && former.until > now) return
    const ms = Math.min((former?.ms ?? minBackOffMs / 2) * 2, maxBackOffMs)
    const isSilence = why === 'SILENT' && former?.isSilence !== false
    const until = now + ms
    const rejectedUntil = why === 'REJECTED' ? until + rejectedMs : (former?.rejectedUntil ?? 0)
    backOffs.set(number, { until, ms, isSilence, rejectedUntil })
    if (former !== undefined) return
    askUntilBack()
    if (typeof reason === 'string') log.warn('node-away', { node: number, reason })
    else {
      const { path, slot, outputId, reason: fault } = reason
      log.warn('node-unreadable', { node: number, path, slot, outputId, reason: fault })
    }
  }

  /** Asks the node now and then, because nothing else does while another node of the list responds. */
  function askUntilBack(): void {
    asking ??= setInterval(() => {
      const away = backOffs.get(number)
      if (away === undefined || closed.aborted) {
        clearInterval(asking)
        asking = undefined
      } else if (away.until <= performance.now()) void send(info().request)
    }, maxBackOffMs).unref()
  }

  function recovered(): void {
    const former = backOffs.get(number)
    // The response may belong to a request from before the node stopped responding.
    if (former === undefined || former.until > performance.now()) return
    backOffs.delete(number)
    log.info('node-back', { node: number })
  }

  return {
    number,
    fetch: async (query) => read(query, await send(query.request)),
    fetchInRate: async (query) => read(query, await sendInRate(query.request)),
    send,
    backOff: (reason) => backOff(reason, 'USELESS'),
    reject: (reason) => backOff(reason, 'REJECTED'),
    unfollowed: (reason) => {
      const count = (failedRounds.get(number)?.count ?? 0) + 1
      const ms = Math.min(minBackOffMs * 2 ** count, maxUnfollowedMs)
      failedRounds.set(number, { count, until: performance.now() + ms })
      backOff(reason, 'USELESS')
    },
    followed: () => {
      shared.followed = number
      failedRounds.delete(number)
      recovered()
    },
  }
}

/** Queries an item for the follower that the node must have according to its other responses. */
export async function fetchRequired<T>(
  node: Node,
  query: NodeQuery<T>,
  what: string,
): Promise<Result<T, NodeFailed | AnswerUnreadable>> {
  const answer = await node.fetchInRate(query)
  if (!answer.ok) return answer
  if (answer.value !== undefined) return ok(answer.value)
  return err({ code: 'NODE_FAILED', node: node.number, reason: `${what} is missing` })
}

function statusOf({ status }: NodeResponse): string {
  return `status ${status}`
}

/** Statuses of a node or a proxy that cannot serve now. */
const busyStatuses: readonly number[] = [429, 502, 503, 504]

const minBackOffMs = 500
const maxBackOffMs = 5_000
const maxUnfollowedMs = 60_000

/** Attempts of a request whose rate the node limits, and the milliseconds between two of them. */
const maxAttempts = 10
const minWaitMs = 200
const maxWaitMs = 2_000

/** Milliseconds within which the process that follows checks a rejected node again. A standby checks none. */
const rejectedMs = 60_000
