import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { type NodeAnswer, type NodeRequest, type NodeSilent, sendRequest } from './client.ts'
import type { NodeQuery } from './node-queries.ts'

/** The nodes of upstream mode: asked in the order of the list, and not asked for a while after they did not answer. */

/** The addresses of the nodes. */
export interface NodesDeps {
  /** Without a slash at the end; at least one. */
  readonly urls: readonly string[]
  readonly log: Log
}

/** One node. */
export interface Node {
  /** Its number in the list, from 1. */
  readonly number: number
  /** Asks it; `undefined` where it has nothing. A node that is silent or busy is not asked again for a while. */
  fetch<T>(query: NodeQuery<T>): Promise<Result<T | undefined, NodeFailed | AnswerUnreadable>>
  /** The same, without reading the answer. */
  send(request: NodeRequest): Promise<Result<NodeAnswer, NodeSilent>>
  /** Its answers are of no use: it is not asked for a while, longer every time, until `well` is called. */
  rest(why: string | AnswerUnreadable): void
  /** Its answer was of use. */
  well(): void
}

/** The node did not answer, or refused to; `reason` is for the log. */
export interface NodeFailed {
  readonly code: 'NODE_FAILED'
  /** Its number in the list, from 1; 0 where it is none. */
  readonly node: number
  readonly reason: string
}

/** No node answers. */
export interface NodesAway {
  readonly code: 'NODES_AWAY'
}

/** All nodes. */
export interface Nodes {
  /** Those that may be asked now, in their order. */
  awake(): readonly Node[]
  /** Asks one after the other until one gives a readable answer. */
  fetch<T>(query: NodeQuery<T>): Promise<Result<T | undefined, NodesAway | AnswerUnreadable>>
  /** Aborts the requests under way. */
  close(): void
}

interface Rest {
  /** By `performance.now()`. */
  readonly until: number
  readonly ms: number
  /** Whether any answer ends it. */
  readonly isSilence: boolean
}

/** Opens the list; nothing is asked yet. */
export function openNodes({ urls, log }: NodesDeps): Nodes {
  const closed = new AbortController()
  const rests = new Map<number, Rest>()
  const shared = { closed: closed.signal, rests, log }
  const nodes = urls.map((url, i) => createNode(shared, url, i + 1))

  function awake(): readonly Node[] {
    const now = performance.now()
    return nodes.filter(({ number }) => (rests.get(number)?.until ?? 0) <= now)
  }

  async function fetchAnswer<T>(
    query: NodeQuery<T>,
  ): Promise<Result<T | undefined, NodesAway | AnswerUnreadable>> {
    let unreadable: AnswerUnreadable | undefined
    for (const node of awake()) {
      const answer = await node.fetch(query)
      if (answer.ok) return ok(answer.value)
      log.debug('node-failed', { node: node.number, reason: answer.error.reason })
      if (answer.error.code === 'NODE_ANSWER_UNREADABLE') unreadable ??= answer.error
    }
    return err(unreadable ?? ({ code: 'NODES_AWAY' } as const))
  }

  return { awake, fetch: fetchAnswer, close: () => closed.abort() }
}

interface Shared {
  readonly closed: AbortSignal
  /** By the number of the node. */
  readonly rests: Map<number, Rest>
  readonly log: Log
}

function createNode({ closed, rests, log }: Shared, url: string, number: number): Node {
  async function send(request: NodeRequest): Promise<Result<NodeAnswer, NodeSilent>> {
    const answer = await sendRequest(url, request, closed)
    if (!answer.ok) rest(answer.error.reason, 'SILENT')
    else if (busyStatuses.includes(answer.value.status)) rest(statusOf(answer.value), 'SILENT')
    else if (rests.get(number)?.isSilence === true) well()
    return answer
  }

  async function fetchAnswer<T>(
    query: NodeQuery<T>,
  ): Promise<Result<T | undefined, NodeFailed | AnswerUnreadable>> {
    const answer = await send(query.request)
    if (!answer.ok) return err({ code: 'NODE_FAILED', node: number, reason: answer.error.reason })
    const read = query.read(answer.value)
    if (read.ok) return read
    const { reason, isUnreadable, outputId = query.outputId } = read.error
    if (!isUnreadable) return err({ code: 'NODE_FAILED', node: number, reason })
    const { slot, request } = query
    const about = { path: request.path, slot, outputId, reason }
    return err({ code: 'NODE_ANSWER_UNREADABLE', node: number, ...about })
  }

  function rest(reason: string | AnswerUnreadable, why: 'SILENT' | 'USELESS'): void {
    if (closed.aborted) return
    const former = rests.get(number)
    const now = performance.now()
    // Many requests may fail together: they are one failure.
    if (former !== undefined && former.until > now) return
    const ms = Math.min((former?.ms ?? shortestRestMs / 2) * 2, longestRestMs)
    const isSilence = why === 'SILENT' && former?.isSilence !== false
    rests.set(number, { until: now + ms, ms, isSilence })
    if (former !== undefined) return
    if (typeof reason === 'string') log.warn('node-away', { node: number, reason })
    else log.warn('node-unreadable', { node: number, ...printed(reason) })
  }

  function well(): void {
    const former = rests.get(number)
    // The answer may be to a request from before the node stopped answering.
    if (former === undefined || former.until > performance.now()) return
    rests.delete(number)
    log.info('node-back', { node: number })
  }

  return { number, fetch: fetchAnswer, send, rest: (reason) => rest(reason, 'USELESS'), well }
}

/** Asks for something that the node must have by its other answers. */
export async function needed<T>(
  node: Node,
  query: NodeQuery<T>,
  what: string,
): Promise<Result<T, NodeFailed | AnswerUnreadable>> {
  const answer = await node.fetch(query)
  if (!answer.ok) return answer
  if (answer.value !== undefined) return ok(answer.value)
  return err({ code: 'NODE_FAILED', node: node.number, reason: `${what} is not there` })
}

/** The fields of the log line; unknown ones are left out. */
function printed({
  path,
  slot,
  outputId,
  reason,
}: AnswerUnreadable): Record<string, string | number> {
  return {
    path,
    ...(slot === undefined ? {} : { slot }),
    ...(outputId === undefined ? {} : { outputId }),
    reason,
  }
}

function statusOf({ status }: NodeAnswer): string {
  return `status ${status}`
}

/** The answers of a node, or of a proxy, that cannot serve now. */
const busyStatuses: readonly number[] = [429, 502, 503, 504]

const shortestRestMs = 500
const longestRestMs = 5_000
