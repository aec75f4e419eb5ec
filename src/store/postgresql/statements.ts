import { hash } from 'node:crypto'
import type { Parameter } from '../database.ts'

/** Statements of PostgreSQL, with the names under which connections prepare them. */

export interface Statement {
  /** SQL text with numbered parameters ($1, $2, …). */
  readonly text: string
  readonly name: string | undefined
  readonly values: readonly Parameter[]
}

/** A SQL text of the program in the form of PostgreSQL. */
interface Text {
  readonly numbered: string
  /** Index of its limit among the parameters, from 0. */
  readonly limitAt: number | undefined
  /** The texts with a literal limit, by limit. */
  readonly limited: Map<unknown, string>
}

/**
 * Creates the statements of a pool. A usual limit becomes a literal of the text. PostgreSQL plans a named statement once for all values
 * if that seems no worse than a plan per execution, and planning takes as long as most of our reads. For an unknown limit it
 * expects a tenth of all rows, so it would plan each execution, or sort although an index has the order.
 */
export function createStatements() {
  const texts = new Map<string, Text>()
  // The server keeps each named statement for each connection, and there may be many generated texts.
  const plainNames = new Map<string, string>()
  const limitedNames = new Map<string, string>()

  function textOf(sql: string): Text {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = numbered(sql)
    const made = { numbered: text, limitAt: limitIn(text), limited: new Map() }
    if (texts.size < maxNames) texts.set(sql, made)
    return made
  }

  function limitedOf(
    { numbered, limitAt, limited }: Text,
    parameters: readonly Parameter[],
  ): Statement | undefined {
    const limit = limitAt === undefined ? undefined : parameters[limitAt]
    if (limitAt === undefined || !literalLimits.has(limit)) return undefined
    const text = limited.get(limit) ?? withLimit(numbered, limitAt, String(limit))
    limited.set(limit, text)
    const name = nameIn(limitedNames, text)
    if (name === undefined) return undefined
    return { text, name, values: parameters.toSpliced(limitAt, 1) }
  }

  return {
    /**
     * Returns the statement of a text. The limit stays a parameter if there are too many texts with literal limits, so that a client
     * with many page sizes cannot use up the names.
     */
    of(sql: string, parameters: readonly Parameter[]): Statement {
      const text = textOf(sql)
      const limited = limitedOf(text, parameters)
      if (limited !== undefined) return limited
      const name = nameIn(plainNames, text.numbered)
      return { text: text.numbered, name, values: parameters }
    },
  }
}

/** Creates a statement without parameters, such as BEGIN. */
export function commandOf(text: string): Statement {
  return { text, name: nameOf(text), values: [] }
}

/** Returns the name of a text; `undefined` if too many texts have names already. */
function nameIn(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= maxNames) return known
  const name = nameOf(text)
  names.set(text, name)
  return name
}

/** Limits of pages, each with the extra row that shows whether there are more, and of rows that are read at once. */
const literalLimits: ReadonlySet<unknown> = new Set([
  2, 6, 11, 21, 26, 51, 101, 201, 501, 1000, 1001,
])

/** Returns the index, from 0, of the parameter that is the last limit of a text; `undefined` if the parameter has another use too. */
function limitIn(text: string): number | undefined {
  const last = [...text.matchAll(/LIMIT \$(\d+)\b/g)].at(-1)
  const isOnce = last !== undefined && text.split(new RegExp(`\\$${last[1]}\\b`)).length === 2
  return isOnce ? Number(last[1]) - 1 : undefined
}

/** Replaces the parameter of a limit by a literal, and renumbers the later parameters. */
function withLimit(text: string, limitAt: number, limit: string): string {
  return text.replaceAll(/\$(\d+)/g, (mark, digits) => {
    const at = Number(digits) - 1
    if (at === limitAt) return limit
    return at < limitAt ? mark : `$${at}`
  })
}

/** Numbers the parameters of a text: `?` becomes `$1`, `$2` and so on, `?2` becomes `$2`. */
export function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll(/\?(\d*)/g, (_mark, place: string) => `$${place || ++count}`)
}

/** Returns a name that is derived from the text, so that behind a pooler the same name of another process means the same statement. */
function nameOf(sql: string): string {
  return `lg_${hash('sha256', sql).slice(0, 32)}`
}

/** Maximum number of names. The program has fewer than a hundred texts of its own. */
const maxNames = 200
