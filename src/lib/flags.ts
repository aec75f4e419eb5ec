import { parseArgs } from 'node:util'
import { nearest } from './nearest.ts'

/** Parses the flags of a command line, and reports all problems at once. */

/** The flags of a command line and its problems. */
export interface Flags {
  /** Values by flag name without dashes. A flag without a value has the value `true`. */
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly problems: readonly FlagProblem[]
}

/** A word of the command line that is not valid. */
export type FlagProblem =
  | {
      readonly code: 'FLAG_UNKNOWN'
      readonly word: string
      /** The most similar known flag, with its dashes. */
      readonly nearest: string | undefined
    }
  | { readonly code: 'FLAG_WITHOUT_VALUE'; readonly word: string }
  | { readonly code: 'FLAG_WITH_VALUE'; readonly word: string }
  | { readonly code: 'FLAG_REPEATED'; readonly word: string }
  | { readonly code: 'WORD_UNEXPECTED'; readonly word: string }

/** The flags of a command, by name without dashes. */
export interface FlagNames {
  /** Flags with a value that must not be repeated. */
  readonly once: readonly string[]
  /** Flags with a value that may be repeated. */
  readonly many?: readonly string[]
  /** Flags without a value. */
  readonly bare?: readonly string[]
}

/** Parses the words after the name of a command. */
export function parseFlags(words: readonly string[], names: FlagNames): Flags {
  const { once, many = [], bare = [] } = names
  const options = Object.fromEntries([
    ...[...once, ...many].map((name) => [name, { type: 'string', multiple: true } as const]),
    ...bare.map((name) => [name, { type: 'boolean' } as const]),
  ])
  const args = [...words]
  const { tokens } = parseArgs({
    args,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values = new Map<string, string[]>()
  const problems: FlagProblem[] = []
  let unknownAt = Number.NaN
  for (const token of tokens) {
    if (token.kind === 'positional') {
      // The word after an unknown flag is its value and may be a secret, because a secret has no flag.
      const isValue = token.index === unknownAt + 1
      if (!isValue) problems.push({ code: 'WORD_UNEXPECTED', word: token.value })
    }
    if (token.kind !== 'option') continue
    const { name, rawName: word, value, inlineValue } = token
    const known = values.get(name) ?? []
    if (!Object.hasOwn(options, name)) {
      unknownAt = token.index
      const meant = nearest(name, Object.keys(options))
      problems.push({ code: 'FLAG_UNKNOWN', word, nearest: meant && `--${meant}` })
      // The parser spells out what follows a single dash, which may be a secret, as flags and words.
      if (word.length === 2 && word !== args[token.index]) break
    } else if (bare.includes(name)) {
      if (value === undefined) values.set(name, ['true'])
      else problems.push({ code: 'FLAG_WITH_VALUE', word })
    } else if (!value || (inlineValue === false && value.startsWith('--'))) {
      // A script passed an empty variable, or the parser took the next flag for the value.
      problems.push({ code: 'FLAG_WITHOUT_VALUE', word })
    } else if (known.length > 0 && !many.includes(name)) {
      problems.push({ code: 'FLAG_REPEATED', word })
    } else {
      values.set(name, [...known, value])
    }
  }
  return { values, problems }
}

/** Formats a problem as a sentence. */
export function flagMessage(problem: FlagProblem): string {
  const { code, word } = problem
  const says: { readonly [C in FlagProblem['code']]: string } = {
    FLAG_UNKNOWN: 'is unknown',
    FLAG_WITHOUT_VALUE: 'needs a value',
    FLAG_WITH_VALUE: 'takes no value',
    FLAG_REPEATED: 'is given more than once',
    WORD_UNEXPECTED: 'is not expected here',
  }
  const meant = problem.code === 'FLAG_UNKNOWN' ? problem.nearest : undefined
  return `${word} ${says[code]}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}
