import { configMessage, flagNames, parseDatabase } from '../config.ts'
import { type Flags, flagMessage, parseFlags } from '../lib/flags.ts'
import type { Setting } from '../settings.ts'
import { type ProcessIo, refuse } from './command.ts'

/** How the commands are called that work on one file and a database: backup and restore. */

/** A call that is in order. */
export interface FileCall {
  readonly path: string
  /** Of the database. */
  readonly url: string
  readonly values: Flags['values']
  /** Fires when the process shall end. */
  readonly signal: AbortSignal
}

/** What a command knows. */
export interface FileCallForm {
  readonly name: string
  readonly settings: readonly Setting[]
  /** Flags that take no value. */
  readonly bare?: readonly string[]
}

/** Reads a call; refuses it and gives the exit code where it is not in order. */
export function parseFileCall(
  process: ProcessIo,
  words: readonly string[],
  { name, settings, bare = [] }: FileCallForm,
): FileCall | number {
  const { values, problems } = parseFlags(words, { once: flagNames(settings), bare })
  const paths = problems.filter(({ code }) => code === 'WORD_UNEXPECTED').map(({ word }) => word)
  const [path] = paths
  const url = parseDatabase(process.env, values)
  const wrong = [
    ...problems.filter(({ code }) => code !== 'WORD_UNEXPECTED').map(flagMessage),
    ...(path === undefined ? ['FILE is needed'] : []),
    ...(paths.length > 1 ? ['one FILE at a time'] : []),
    ...(url.ok ? [] : url.error.map(configMessage)),
  ]
  if (wrong.length > 0 || path === undefined || !url.ok) return refuse(process, name, wrong)
  const stopping = new AbortController()
  void process.stopped.then(() => stopping.abort())
  return { path, url: url.value.reveal(), values, signal: stopping.signal }
}
