import { alternatives } from '../lib/alternatives.ts'
import { assert } from '../lib/assert.ts'
import { type FlagProblem, type Flags, flagMessage, parseFlags } from '../lib/flags.ts'
import { withoutCredentials } from '../lib/secret.ts'
import { isNodeUrl } from '../setting-values.ts'
import { done, type ProcessIo, refuse, requestsHelp } from './command.ts'
import { type Declaration, flagForms, type WordForm } from './declaration.ts'
import { helpText } from './help-text.ts'

/** Parses the arguments of a command by its declaration. */

/** A valid call of a command. */
export interface Call {
  /** Arguments without dashes, in order. */
  readonly words: readonly string[]
  /** Values of the flags, by flag name without dashes. */
  readonly values: Flags['values']
  /** Whether the output is JSON. */
  readonly isJson: boolean
  /** Aborts when the process has to stop. */
  readonly signal: AbortSignal
  /** Returns an argument that the declaration requires. */
  word(index: number): string
  /** Returns the value of a flag that is allowed once. */
  flag(name: string): string | undefined
  /** Prints `text`, or `json` if the output is JSON. */
  print(text: string, json: object): void
}

/** Parses a call. When it prints the help or refuses an invalid call, it returns the exit code. */
export function readCall(
  process: ProcessIo,
  declaration: Declaration,
  given: readonly string[],
  problemsOf: (call: Call) => readonly string[] = () => [],
): Call | number {
  if (requestsHelp(given)) {
    process.stdout(helpText(declaration))
    return done
  }
  const { values, problems } = parseFlags(given, namesOf(declaration))
  const words = problems.filter(isWord).map(({ word }) => word)
  const stopping = new AbortController()
  void process.stopped.then(() => stopping.abort())
  const isJson = values.has('json') || !process.isTerminal
  const call: Call = {
    words,
    values,
    isJson,
    signal: stopping.signal,
    word: (index) => {
      const word = words[index]
      assert(word !== undefined, 'a call without a required argument is refused')
      return word
    },
    flag: (name) => values.get(name)?.[0],
    print: (text, json) => process.stdout(isJson ? `${JSON.stringify(json)}\n` : text),
  }
  // The word after an unknown flag may be meant as an argument.
  const isSure = problems.every(({ code }) => code !== 'FLAG_UNKNOWN')
  const wrong = [
    ...problems.filter((problem) => !isWord(problem)).map(flagMessage),
    ...(isSure ? wordProblems(declaration, words) : []),
    ...missingFlags(declaration, values),
    ...problemsOf(call),
  ]
  return wrong.length > 0 ? refuse(process, declaration.name, wrong) : call
}

/** Problems with the URL of a gateway in a flag or argument; a URL that is left out has a default. */
export function urlProblems(name: string, url: string | undefined): readonly string[] {
  if (url === undefined || isNodeUrl(url)) return []
  return [`${name} must be http(s)://HOST[:PORT][/PATH], not ${withoutCredentials(url)}`]
}

function isWord({ code }: FlagProblem): boolean {
  return code === 'WORD_UNEXPECTED'
}

function namesOf(declaration: Declaration) {
  const forms = flagForms(declaration)
  const names = (of: typeof forms) => of.map(({ name }) => name)
  const valued = forms.filter(({ value }) => value !== '')
  return {
    once: names(valued.filter(({ isMany }) => isMany !== true)),
    many: names(valued.filter(({ isMany }) => isMany === true)),
    bare: names(forms.filter(({ value }) => value === '')),
  }
}

function wordProblems(
  { words: forms = [] }: Declaration,
  words: readonly string[],
): readonly string[] {
  // A script may pass an empty variable.
  const isMissing = ({ isOptional }: WordForm, index: number) =>
    words[index] === '' || (words[index] === undefined && isOptional !== true)
  const missing = forms.filter(isMissing).map(({ name }) => `${name} is required`)
  const misfits = forms.flatMap(({ name, choices }, index) => {
    const word = words[index]
    if (choices === undefined || !word || choices.includes(word)) return []
    return [`${name} must be ${alternatives(choices)}, not ${withoutCredentials(word)}`]
  })
  return [...missing, ...misfits, ...surplusWords(forms, words)]
}

function surplusWords(
  forms: NonNullable<Declaration['words']>,
  words: readonly string[],
): readonly string[] {
  const more = words.slice(forms.length)
  const last = forms.at(-1)
  if (more.length === 0 || last?.isMany === true) return []
  return last === undefined
    ? more.map((word) => `${withoutCredentials(word)} is not expected here`)
    : [`only one ${last.name} is allowed`]
}

function missingFlags({ flags = [] }: Declaration, values: Flags['values']): readonly string[] {
  return flags
    .filter(({ name, isRequired }) => isRequired === true && !values.has(name))
    .map(({ name }) => `--${name} is required`)
}
