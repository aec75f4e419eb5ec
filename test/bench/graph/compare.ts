import { isDeepStrictEqual } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import type { Server } from '../graphql/servers.ts'
import { type Line, openLine } from '../rest/load.ts'
import type { Variables } from './questions.ts'

/** Sends the same requests to two servers and compares their responses. */

/** A document with the variables of its requests. */
export interface Question {
  readonly name: string
  readonly text: string
  readonly variables: readonly Variables[]
}

/** Sends one request and returns the body of the response; throws if the response has errors. */
export async function ask(line: Line, body: string): Promise<Buffer> {
  const response = await line.post('/graphql', body)
  if (response.status !== 200 || response.body.includes('"errors":[')) {
    throw new Error(`${response.status}: ${response.body.subarray(0, 600)}\nto ${body.slice(-300)}`)
  }
  return response.body
}

/** The body of a request. */
export function bodyOf(query: string, variables: Variables): string {
  return JSON.stringify({ query, variables })
}

/** Appends different white space for each number, so that the server has no cached response for the body. */
export function inOtherWords(body: string, n: number): string {
  return body + n.toString(2).replaceAll('0', ' ').replaceAll('1', '\t')
}

/** The attempts per comparison, because the gateway may commit a slot between the two responses. */
const attempts = 5
const comparedOfEach = 20

/** Throws if the responses differ in more than the texts of cursors, the notation of numbers and the order of sets. */
export async function compareResponses(
  [gateway, peer]: readonly [Server, Server],
  { name, text, variables }: Question,
): Promise<void> {
  const lines = await Promise.all([openLine(gateway.port), openLine(peer.port)])
  for (const one of variables.slice(0, comparedOfEach)) {
    for (let attempt = 1; ; attempt++) {
      const [ofGateway, ofPeer] = await Promise.all(
        lines.map(async (line) =>
          comparable(JSON.parse((await ask(line, bodyOf(text, one))).toString())),
        ),
      )
      if (isDeepStrictEqual(ofGateway, ofPeer)) break
      if (attempt < attempts) continue
      const at = present(firstDifference(ofGateway, ofPeer), 'a difference')
      throw new Error(`${name} of ${JSON.stringify(one)} differs at ${at}`)
    }
  }
  for (const line of lines) line.end()
}

const sets = new Set(['inputs', 'changes', 'hits', 'members'])

/** The form of cursors differs between servers. */
const cursors = new Set(['cursor', 'startCursor', 'endCursor'])

function comparable(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => comparable(item))
    return sets.has(key) ? items.sort((a, b) => (text(a) < text(b) ? -1 : 1)) : items
  }
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      cursors.has(name) ? one !== null : comparable(one, name),
    ]),
  )
}

function text(value: unknown): string {
  return JSON.stringify(value)
}

function firstDifference(a: unknown, b: unknown, path = ''): string | undefined {
  if (isDeepStrictEqual(a, b)) return undefined
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return `${path}: ${text(a)?.slice(0, 200)} instead of ${text(b)?.slice(0, 200)}`
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = firstDifference(Reflect.get(a, key), Reflect.get(b, key), `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
