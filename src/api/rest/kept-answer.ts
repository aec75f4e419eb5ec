import type { AnswerCache } from '../answer-cache.ts'
import { tagOf } from './respond.ts'
import { jsonHeaders, type RouteResponse } from './response.ts'
import type { ReadVersion } from './route.ts'

/** Answers of routes that are kept while what they depend on is the same. */

/** A request that has found its route. */
export interface KeptQuestion {
  /** The path and the query as they were sent. */
  readonly target: string
  /** What reads the version of the answer; `undefined` where the request is refused. */
  version(): ReadVersion | undefined
  answer(): Promise<RouteResponse>
}

/** The answer; only a success is kept. */
export async function keptAnswer(
  kept: AnswerCache,
  { target, version, answer }: KeptQuestion,
): Promise<RouteResponse> {
  const compute = async () => {
    const answered = await answer()
    if (answered.status === 200 && 'body' in answered && typeof answered.body === 'string') {
      return answered.body
    }
    throw new NotKept(answered)
  }
  const prepare = () => {
    const readVersion = version()
    return readVersion && { version: () => readVersion, compute }
  }
  try {
    const asked = { method: 'REST', text: Buffer.from(target) } as const
    const written = await kept.getOrCompute(asked, prepare)
    if (written === undefined) return await answer()
    if (typeof written === 'string') return { status: 200, headers: jsonHeaders, body: written }
    written.etag ??= tagOf(written.body)
    return { status: 200, headers: { ...jsonHeaders, etag: written.etag }, body: written.body }
  } catch (failure) {
    if (failure instanceof NotKept) return failure.answered
    throw failure
  }
}

/** Carries a refusal past the cache, also to those who wait for the same answer. */
class NotKept extends Error {
  readonly answered: RouteResponse

  constructor(answered: RouteResponse) {
    super('the answer is not one that is kept')
    this.answered = answered
  }
}
