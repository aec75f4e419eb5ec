import { parseArgs } from 'node:util'
import { nearest } from './nearest.ts'

/** Reads the words of a command line: all that is wrong with them at once, not only the first. */

/** The flags of a command line and what is wrong with it. */
export interface Flags {
  /** What was given, by flag name without dashes; a flag that takes no value has the value `true`. */
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly problems: readonly FlagProblem[]
}

/** Words that mean nothing here. */
export type FlagProblem =
  | {
      readonly code: 'FLAG_UNKNOWN'
      readonly word: string
      /** The flag that was probably meant, with its dashes. */
      readonly nearest: string | undefined
    }
  | { readonly code: 'FLAG_WITHOUT_VALUE'; readonly word: string }
  | { readonly code: 'FLAG_WITH_VALUE'; readonly word: string }
  | { readonly code: 'FLAG_REPEATED'; readonly word: string }
  | { readonly code: 'WORD_UNEXPECTED'; readonly word: string }

/** Which flags a command knows, each by name without dashes. */
export interface FlagNames {
  /** Take a value, and come once. */
  readonly once: readonly string[]
  /** Take a value, and may come again. */
  readonly many?: readonly string[]
  /** Take no value. */
  readonly bare?: readonly string[]
}

/** Reads the words behind a command. */
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
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push({ code: 'WORD_UNEXPECTED', word: token.value })
    if (token.kind !== 'option') continue
    const { name, rawName: word, value, inlineValue } = token
    const known = values.get(name) ?? []
    if (!(name in options)) {
      const meant = nearest(name, Object.keys(options))
      problems.push({ code: 'FLAG_UNKNOWN', word, nearest: meant && `--${meant}` })
    } else if (bare.includes(name)) {
      if (value === undefined) values.set(name, ['true'])
      else problems.push({ code: 'FLAG_WITH_VALUE', word })
    } else if (value === undefined || (inlineValue === false && value.startsWith('--'))) {
      // What looks like the next flag was taken for the value.
      problems.push({ code: 'FLAG_WITHOUT_VALUE', word })
    } else if (known.length > 0 && !many.includes(name)) {
      problems.push({ code: 'FLAG_REPEATED', word })
    } else {
      values.set(name, [...known, value])
    }
  }
  return { values, problems }
}

/** A problem as a sentence. */
export function flagMessage(problem: FlagProblem): string {
  const { code, word } = problem
  const says: { readonly [C in FlagProblem['code']]: string } = {
    FLAG_UNKNOWN: 'is unknown',
    FLAG_WITHOUT_VALUE: 'needs a value',
    FLAG_WITH_VALUE: 'takes no value',
    FLAG_REPEATED: 'comes more than once',
    WORD_UNEXPECTED: 'is not expected here',
  }
  const meant = problem.code === 'FLAG_UNKNOWN' ? problem.nearest : undefined
  return `${word} ${says[code]}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}
