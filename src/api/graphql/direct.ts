import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { AnswerCache, Asked, KeptAnswer, Question } from '../answer-cache.ts'
import type { RateLimitExceeded } from '../api-errors.ts'
import { maxBodyBytes, readBody } from '../rest/body.ts'
import { send, tagOf } from '../rest/respond.ts'
import { type Budget, createBudget } from './budget.ts'
import type { GatewayContext } from './builder.ts'
import type { Documents } from './documents.ts'
import {
  createPreparedQueries,
  type PreparedQueryDeps,
  type QueryRequest,
} from './prepared-queries.ts'
import { bytesOfUnit } from './prices.ts'
import { refusedGraphql } from './refused.ts'
import { operationRefusal, type UnderWay } from './under-way.ts'

/**
 * The short way of a query: what is asked as nearly all clients ask, and has an answer without errors, is answered from its
 * compiled form. Everything else takes the long way through the server, which words every refusal.
 */

/** Answers queries. */
export interface DirectAnswers {
  /**
   * Answers a request and gives `undefined`; or gives the request back where it has to take the long way, with its body to
   * be read from the start, and with the budget of its query where that had to end.
   */
  answer(
    message: IncomingMessage,
    response: ServerResponse,
    request: DirectRequest,
  ): Promise<LeftOver | undefined>
}

/** A request that was not answered. */
export interface LeftOver {
  readonly message: IncomingMessage
  readonly ended?: Budget | undefined
}

/** What is known of a request. */
export interface DirectRequest {
  /** Of the URL, without the question mark. */
  readonly query: string
  readonly context: Omit<GatewayContext, 'budget'>
  /** The headers of every answer. */
  readonly common: Readonly<Record<string, string>>
}

/** What answering the short way needs. */
export interface DirectDeps extends PreparedQueryDeps {
  readonly documents: Documents
  readonly answers: AnswerCache
  readonly underWay: UnderWay
}

/** Over the server that parses and validates. */
export function createDirectAnswers(deps: DirectDeps): DirectAnswers {
  const { documents, answers } = deps
  const queries = createPreparedQueries(deps)

  async function write(
    sent: Asked,
    readRequest: () => QueryRequest | undefined,
    response: ServerResponse,
    fields: DirectRequest['context'],
  ): Promise<string | KeptAnswer | Ended | RateLimitExceeded | undefined> {
    let refusal: RateLimitExceeded | undefined
    let taken = 0
    let budget: Budget | undefined
    const leave = () => budget?.leave()
    const prepare = (): Question | undefined => {
      const asked = readRequest()
      if (asked === undefined) return undefined
      if (operationRefusal(deps.underWay) !== undefined) return undefined
      budget = createBudget()
      budget.begin(deps.underWay)
      response.on('close', () => budget?.close())
      response.on('close', leave)
      const ready = queries.prepare(asked, { ...fields, budget })
      if (ready === undefined) return undefined
      refusal = fields.share.take(ready.cost)
      if (refusal !== undefined) return undefined
      taken = ready.cost
      const { name, version, lasting } = ready
      return { name, version, lasting, compute: async () => `{"data":${await ready.run()}}` }
    }
    try {
      const written = await answers.getOrCompute(sent, prepare)
      // Nothing was spent where others had asked for the same.
      if (taken > 0) fields.share.charge((budget?.spent.cost ?? 0) - taken)
      // The long way has a budget of its own.
      if (written === undefined) budget?.close()
      const { observation } = fields
      // A kept answer was neither prepared nor computed, and costs nothing.
      if (observation !== undefined && typeof written === 'object') {
        observation.operation ??= { kind: 'query', name: written.name }
      }
      return refusal ?? written
    } catch (error) {
      // What had to end is not run again.
      if (budget?.signal.aborted === true) return { ended: budget }
      // The server runs it again, and reports the error: the fields that do not have their values yet end here, and what the others
      // took is paid for beside what the server charges for its own run.
      leave()
      fields.share.charge(budget?.spent.cost ?? 0)
      budget?.close()
      deps.log.debug('query-run-again', { requestId: fields.requestId, error })
      return undefined
    } finally {
      response.off('close', leave)
    }
  }

  return {
    answer: async (message, response, { query, context, common }) => {
      const type = answerType(message.headers.accept)
      if (type === undefined) return { message }
      let body: Buffer | undefined
      let written: string | KeptAnswer | Ended | RateLimitExceeded | undefined
      if (message.method === 'GET') {
        written = await write(
          { method: 'GET', text: Buffer.from(query) },
          () => requestOfUrl(documents, query),
          response,
          context,
        )
      } else if (message.method === 'POST' && query === '' && isShortJson(message)) {
        const read = await readBody(message, context.share.client).catch(() => undefined)
        // Its client left in it.
        if (!read?.ok) return undefined
        body = read.value
        written = await write(
          { method: 'POST', text: read.value },
          () => requestOfBody(documents, read.value),
          response,
          context,
        )
      }
      if (response.destroyed) return undefined
      const left = () => (body === undefined ? message : replayed(message, body))
      if (written === undefined) return { message: left() }
      if (typeof written === 'object' && 'ended' in written) return { message: left(), ...written }
      const { share } = context
      if (typeof written === 'object' && 'code' in written) {
        send(response, refusedGraphql(written), { ...common, ...share.headers() })
        return undefined
      }
      // What is kept is not computed again, and costs what it takes to send.
      if (typeof written === 'object') share.charge(written.body.length / bytesOfUnit)
      // A client may keep it, and asks by its tag whether it has changed.
      const own = { 'content-type': type, 'cache-control': 'no-cache' }
      sendWritten(response, { ...common, ...share.headers(), ...own }, written)
      return undefined
    },
  }
}

/** An answer that had to end, by its budget. */
interface Ended {
  readonly ended: Budget
}

/** A kept answer is sent with the tag that was made when it was first asked for by GET. */
function sendWritten(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  written: string | KeptAnswer,
): void {
  if (typeof written === 'string') send(response, { status: 200, headers, body: written })
  else {
    const { body } = written
    if (response.req.method === 'GET') written.etag ??= tagOf(body)
    const { etag } = response.req.method === 'GET' ? written : {}
    send(response, {
      status: 200,
      headers: etag === undefined ? headers : { ...headers, etag },
      body,
    })
  }
}

/** The media type that an `Accept` asks for first; `undefined` for what only the server reads. */
function answerType(accept: string | undefined): string | undefined {
  if (accept === undefined || accept === '*/*') return 'application/json; charset=utf-8'
  for (const one of accept.split(',')) {
    const type = one.trim()
    if (type === '*/*' || type === 'application/json') return 'application/json; charset=utf-8'
    if (type === responseType) return `${responseType}; charset=utf-8`
    if (type !== 'multipart/mixed') return undefined
  }
  return undefined
}

const responseType = 'application/graphql-response+json'

function isShortJson({ headers }: IncomingMessage): boolean {
  const type = headers['content-type']
  const length = Number(headers['content-length'])
  return (
    (type === 'application/json' || type === 'application/json; charset=utf-8') &&
    headers['content-encoding'] === undefined &&
    length > 0 &&
    length <= maxBodyBytes
  )
}

/** The same request with its body to be read again. The server reads no more of it than this. */
function replayed(message: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, socket } = message
  return Object.assign(Readable.from([body]), { method, url, headers, socket }) as IncomingMessage
}

function requestOfBody(documents: Documents, body: Buffer): QueryRequest | undefined {
  try {
    return requestOf(documents, JSON.parse(body.toString()))
  } catch {
    return undefined
  }
}

function requestOfUrl(documents: Documents, query: string): QueryRequest | undefined {
  const given: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in given) return undefined
    given[name] = value
  }
  for (const name of ['variables', 'extensions']) {
    const { [name]: text } = given
    if (typeof text !== 'string') continue
    try {
      given[name] = text === '' ? null : JSON.parse(text)
    } catch {
      return undefined
    }
  }
  return requestOf(documents, given)
}

/** A request with these members and no others; of extensions only the name of a document. */
function requestOf(documents: Documents, json: unknown): QueryRequest | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  const { query, operationName, variables, extensions, ...others } = json as {
    readonly [name: string]: unknown
  }
  if (Object.keys(others).length > 0) return undefined
  if (operationName != null && typeof operationName !== 'string') return undefined
  if (!isAbsentOrObject(variables) || !isAbsentOrObject(extensions)) return undefined
  if (Object.keys(extensions ?? {}).some((name) => name !== 'persistedQuery')) return undefined
  const text = documents.textOf({ query, extensions })
  if (!text.ok || text.value === undefined) return undefined
  return {
    query: text.value,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
  }
}

type Json = Readonly<Record<string, unknown>>

function isAbsentOrObject(value: unknown): value is Json | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value))
}
