import type { Setting } from '../settings.ts'

/** What commands take, as data: parser, help, completions and `docs/cli.md` are made of it. */

/** One command. */
export interface Declaration {
  readonly name: string
  /** In the list of commands; without a capital, without a full stop. */
  readonly summary: string
  /** What it does, in sentences. */
  readonly about: string
  /** What comes without dashes, in order. */
  readonly words?: readonly WordForm[]
  readonly flags?: readonly FlagForm[]
  /** Settings of the gateway that it takes too, as flags and variables. */
  readonly settings?: readonly Setting[]
  /** What the help says behind the tables. */
  readonly notes?: string
  readonly example: Example
}

/** A call that works as it stands. */
export interface Example {
  readonly run: string
  /** What it prints on a terminal, for one ledger or another. */
  readonly prints?: string
}

/** A word without dashes. */
export interface WordForm {
  /** The placeholder in the help. */
  readonly name: string
  readonly help: string
  readonly isOptional?: true
  /** Whether more of them may follow. */
  readonly isMany?: true
  /** What may stand there, where that is a list. */
  readonly choices?: readonly string[]
  /** Whether it is a path. */
  readonly isFile?: true
}

/** A flag that is no setting. */
export interface FlagForm {
  /** Without dashes. */
  readonly name: string
  /** The placeholder of its value in the help; empty where it takes none. */
  readonly value: string
  readonly help: string
  readonly isRequired?: true
  readonly isMany?: true
  readonly choices?: readonly string[]
}

/** Forces JSON on a terminal. */
export const jsonFlag: FlagForm = {
  name: 'json',
  value: '',
  help: 'print JSON on a terminal too; it is what is printed when piped',
}

/** Names the gateway that a command asks. */
export const urlFlag: FlagForm = {
  name: 'url',
  value: 'URL',
  help: 'of the running gateway (http://127.0.0.1:4000)',
}

/** What `urlFlag` is without it. */
export const usualUrl = 'http://127.0.0.1:4000'

/** Every flag: those of the command, and those of its settings. */
export function flagForms({ flags = [], settings = [] }: Declaration): readonly FlagForm[] {
  const ofSettings = settings.flatMap(({ flag, value, help, type: { choices } }) =>
    flag === undefined ? [] : [{ name: flag, value, help, ...(choices && { choices }) }],
  )
  return [...flags, ...ofSettings]
}
