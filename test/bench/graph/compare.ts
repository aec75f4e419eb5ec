import { isDeepStrictEqual } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import type { Server } from '../graphql/servers.ts'
import { type Line, openLine } from '../rest/load.ts'
import type { Variables } from './questions.ts'

/** Asks two servers the same, and holds their answers against each other. */

/** A document with the variables that it is asked with. */
export interface Question {
  readonly name: string
  readonly text: string
  readonly variables: readonly Variables[]
}

/** The answer to one request; one with errors fails. */
export async function ask(line: Line, body: string): Promise<Buffer> {
  const answer = await line.post('/graphql', body)
  if (answer.status !== 200 || answer.body.includes('"errors":[')) {
    throw new Error(`${answer.status}: ${answer.body.subarray(0, 600)}\nto ${body.slice(-300)}`)
  }
  return answer.body
}

/** The body of a request. */
export function bodyOf(query: string, variables: Variables): string {
  return JSON.stringify({ query, variables })
}

/** The same with other white space for each number, so that no answer is kept for it. */
export function inOtherWords(body: string, n: number): string {
  return body + n.toString(2).replaceAll('0', ' ').replaceAll('1', '\t')
}

/** How often both are asked, for between two answers a slot may have been committed. */
const attempts = 5
const comparedOfEach = 20

/** Fails where the answers differ in more than the texts of cursors, the writing of numbers and the order of sets. */
export async function compareAnswers(
  [ours, theirs]: readonly [Server, Server],
  { name, text, variables }: Question,
): Promise<void> {
  const lines = await Promise.all([openLine(ours.port), openLine(theirs.port)])
  for (const one of variables.slice(0, comparedOfEach)) {
    for (let attempt = 1; ; attempt++) {
      const [our, their] = await Promise.all(
        lines.map(async (line) =>
          comparable(JSON.parse((await ask(line, bodyOf(text, one))).toString())),
        ),
      )
      if (isDeepStrictEqual(our, their)) break
      if (attempt < attempts) continue
      const at = present(firstDifference(our, their), 'a difference')
      throw new Error(`${name} of ${JSON.stringify(one)} differs at ${at}`)
    }
  }
  for (const line of lines) line.end()
}

const sets = new Set(['inputs', 'changes', 'hits', 'members'])

/** Each server writes its own. */
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
    return `${path}: ${text(a)?.slice(0, 200)}, and there ${text(b)?.slice(0, 200)}`
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = firstDifference(Reflect.get(a, key), Reflect.get(b, key), `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
