import type { ChildProcess } from 'node:child_process'
import { present } from '../../../src/lib/assert.ts'
import { until } from '../../support/until.ts'
import type { Server } from '../graphql/servers.ts'
import { openLine } from '../rest/load.ts'
import { ask, bodyOf, inOtherWords, type Question } from './compare.ts'

/** How many statements a server runs for a document. */

/** A server that counts them: it was started with these settings. */
export const counting = {
  NODE_OPTIONS: `--import=${new URL('count-statements.mjs', import.meta.url).href}`,
}

/** Such a server. */
export interface CountingServer extends Pick<Server, 'port'> {
  readonly process: ChildProcess
  /** What it wrote on standard error so far. */
  logged(): string
}

const askedOfEach = 12

/** The least of some requests, for the gateway commits slots meanwhile; of its second asking, so that texts are known. */
export async function statementsOf(
  server: CountingServer,
  { text, variables }: Question,
): Promise<number> {
  const line = await openLine(server.port)
  const body = bodyOf(text, present(variables[0], 'a question'))
  await ask(line, body)
  const counts: number[] = []
  for (let n = 0; n < askedOfEach; n++) {
    const before = await told(server)
    await ask(line, inOtherWords(body, n))
    counts.push((await told(server)) - before)
  }
  line.end()
  return Math.min(...counts)
}

async function told(server: CountingServer): Promise<number> {
  const lines = () => [...server.logged().matchAll(/^statements (\d+)$/gm)]
  const known = lines().length
  server.process.kill('SIGUSR2')
  await until(() => lines().length > known, { what: 'the server tells its count' })
  return Number(lines().at(-1)?.[1])
}
