import { hash } from 'node:crypto'
import type { Parameter } from './database.ts'

/** The statements that PostgreSQL is asked, with the names by which connections keep them prepared. */

/** What is asked of the server. */
export interface Statement {
  /** With the parameters as PostgreSQL counts them. */
  readonly text: string
  readonly name: string | undefined
  readonly values: readonly Parameter[]
}

/** A text of the program, as it is asked. */
interface Text {
  readonly numbered: string
  /** Where its limit is among the parameters, from 0 on. */
  readonly limitAt: number | undefined
  /** The text with a limit in it, by that limit. */
  readonly limited: Map<unknown, string>
}

/**
 * The statements of a pool. A usual limit is written into the text: PostgreSQL plans a named statement once for all values where that
 * seems no worse than to plan it each time, which takes as long as most of our reads, and of a limit that it does not know
 * it expects a tenth of all rows, so that it would plan each time, or sort where an index has the order.
 */
export function createStatements() {
  const texts = new Map<string, Text>()
  // Each connection keeps each of them on the server. Texts that are put together may be many.
  const plainNames = new Map<string, string>()
  const limitedNames = new Map<string, string>()

  function textOf(sql: string): Text {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = numbered(sql)
    const made = { numbered: text, limitAt: limitIn(text), limited: new Map() }
    if (texts.size < mostNamed) texts.set(sql, made)
    return made
  }

  function limitedOf(
    { numbered, limitAt, limited }: Text,
    parameters: readonly Parameter[],
  ): Statement | undefined {
    const limit = limitAt === undefined ? undefined : parameters[limitAt]
    if (limitAt === undefined || !usualLimits.has(limit)) return undefined
    const text = limited.get(limit) ?? withLimit(numbered, limitAt, String(limit))
    limited.set(limit, text)
    const name = nameIn(limitedNames, text)
    if (name === undefined) return undefined
    return { text, name, values: parameters.toSpliced(limitAt, 1) }
  }

  return {
    /** The text without its limit where there are too many with theirs: a client that asks for many page sizes takes no name from it. */
    of(sql: string, parameters: readonly Parameter[]): Statement {
      const text = textOf(sql)
      const limited = limitedOf(text, parameters)
      if (limited !== undefined) return limited
      const name = nameIn(plainNames, text.numbered)
      return { text: text.numbered, name, values: parameters }
    },
  }
}

/** A statement that is none of a table. */
export function commandOf(text: string): Statement {
  return { text, name: nameOf(text), values: [] }
}

/** The name of a text, which has one where few have. */
function nameIn(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNamed) return known
  const name = nameOf(text)
  names.set(text, name)
  return name
}

/** Of pages, each with the row that says whether there are more, and of what is read at once. */
const usualLimits: ReadonlySet<unknown> = new Set([2, 6, 11, 21, 26, 51, 101, 201, 501, 1000, 1001])

/** The place of the parameter that is the last limit of a text, from 0 on, where it is nothing else. */
function limitIn(text: string): number | undefined {
  const last = [...text.matchAll(/LIMIT \$(\d+)\b/g)].at(-1)
  const isOnce = last !== undefined && text.split(new RegExp(`\\$${last[1]}\\b`)).length === 2
  return isOnce ? Number(last[1]) - 1 : undefined
}

/** Writes a limit in the place of its parameter, and numbers those behind it anew. */
function withLimit(text: string, limitAt: number, limit: string): string {
  return text.replaceAll(/\$(\d+)/g, (mark, digits) => {
    const at = Number(digits) - 1
    if (at === limitAt) return limit
    return at < limitAt ? mark : `$${at}`
  })
}

function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll(/\?(\d*)/g, (_mark, place: string) => `$${place || ++count}`)
}

/** Made of the text: behind a pooler the name of another process means the same statement. */
function nameOf(sql: string): string {
  return `lg_${hash('sha256', sql).slice(0, 32)}`
}

/** The program's own texts are fewer than a hundred. */
const mostNamed = 200
