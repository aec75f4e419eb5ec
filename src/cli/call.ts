import { assert } from '../lib/assert.ts'
import { type FlagProblem, type Flags, flagMessage, parseFlags } from '../lib/flags.ts'
import { isNodeUrl } from '../setting-values.ts'
import { asksForHelp, done, type ProcessIo, refuse } from './command.ts'
import { type Declaration, flagForms } from './declaration.ts'
import { helpText } from './help-text.ts'

/** Reads how a command was called, by its declaration. */

/** A call that is in order. */
export interface Call {
  /** What came without dashes, in order. */
  readonly words: readonly string[]
  /** The values of the flags, by name without dashes. */
  readonly values: Flags['values']
  /** Whether a program reads the output. */
  readonly isJson: boolean
  /** Fires when the process shall end. */
  readonly signal: AbortSignal
  /** A word that the declaration demands. */
  word(index: number): string
  /** The value of a flag that comes once. */
  flag(name: string): string | undefined
  /** Prints what people read, or what programs read. */
  print(text: string, json: object): void
}

/** Reads a call. Prints the help, or refuses a call that is not in order, and gives the exit code then. */
export function readCall(
  process: ProcessIo,
  declaration: Declaration,
  given: readonly string[],
  problemsOf: (call: Call) => readonly string[] = () => [],
): Call | number {
  if (asksForHelp(given)) {
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
      assert(word !== undefined, 'a call without a word that is needed is refused')
      return word
    },
    flag: (name) => values.get(name)?.[0],
    print: (text, json) => process.stdout(isJson ? `${JSON.stringify(json)}\n` : text),
  }
  const wrong = [
    ...problems.filter((problem) => !isWord(problem)).map(flagMessage),
    ...wordProblems(declaration, words),
    ...missingFlags(declaration, values),
    ...problemsOf(call),
  ]
  return wrong.length > 0 ? refuse(process, declaration.name, wrong) : call
}

/** What is wrong with the URL of a gateway, by the name of its flag or word; left out it is the usual one. */
export function urlProblems(name: string, url: string | undefined): readonly string[] {
  if (url === undefined || isNodeUrl(url)) return []
  return [`${name} must be http(s)://HOST[:PORT][/PATH], not ${url}`]
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
  const missing = forms
    .slice(words.length)
    .filter(({ isOptional }) => isOptional !== true)
    .map(({ name }) => `${name} is needed`)
  const misfits = forms.flatMap(({ name, choices }, index) => {
    const word = words[index]
    if (choices === undefined || word === undefined || choices.includes(word)) return []
    return [`${name} must be ${choices.join(' or ')}, not ${word}`]
  })
  return [...missing, ...misfits, ...beyond(forms, words)]
}

function beyond(
  forms: NonNullable<Declaration['words']>,
  words: readonly string[],
): readonly string[] {
  const more = words.slice(forms.length)
  const last = forms.at(-1)
  if (more.length === 0 || last?.isMany === true) return []
  return last === undefined
    ? more.map((word) => `${word} is not expected here`)
    : [`one ${last.name} at a time`]
}

function missingFlags({ flags = [] }: Declaration, values: Flags['values']): readonly string[] {
  return flags
    .filter(({ name, isRequired }) => isRequired === true && !values.has(name))
    .map(({ name }) => `--${name} is needed`)
}
