import type { ChildProcess } from 'node:child_process'
import { present } from '../../../src/lib/assert.ts'
import { until } from '../../support/until.ts'
import type { Server } from '../graphql/servers.ts'
import { openLine } from '../rest/load.ts'
import { ask, bodyOf, inOtherWords, type Question } from './compare.ts'

/** Counts the statements that a server runs for a document. */

/** Settings that make a server count its statements. */
export const counting = {
  NODE_OPTIONS: `--import=${new URL('count-statements.mjs', import.meta.url).href}`,
}

/** A server that was started with these settings. */
export interface CountingServer extends Pick<Server, 'port'> {
  readonly process: ChildProcess
  /** Everything that the server wrote to standard error. */
  logged(): string
}

const requestsOfEach = 12

/**
 * Returns the minimum of several requests, because the gateway commits slots in the meantime. On a busy machine it may do so during all
 * of them, so more requests follow while the minimum is above a limit. A former request has filled the cache of documents.
 */
export async function statementsOf(
  server: CountingServer,
  { text, variables }: Question,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const line = await openLine(server.port)
  const body = bodyOf(text, present(variables[0], 'a question'))
  await ask(line, body)
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < requestsOfEach || (least > limit && n < 5 * requestsOfEach); n++) {
    const before = await countOf(server)
    await ask(line, inOtherWords(body, n))
    least = Math.min(least, (await countOf(server)) - before)
  }
  line.end()
  return least
}

async function countOf(server: CountingServer): Promise<number> {
  const lines = () => [...server.logged().matchAll(/^statements (\d+)$/gm)]
  const known = lines().length
  server.process.kill('SIGUSR2')
  await until(() => lines().length > known, { what: 'the server prints its count' })
  return Number(lines().at(-1)?.[1])
}
