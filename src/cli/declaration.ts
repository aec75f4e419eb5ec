import type { Setting } from '../settings.ts'

/** Declarations of commands: the parser, the help, the completions and `docs/cli.md` derive from them. */

export interface Declaration {
  readonly name: string
  /** Description in the list of commands; lower case, without a full stop. */
  readonly summary: string
  /** Description in sentences. */
  readonly about: string
  /** Arguments without dashes, in order. */
  readonly words?: readonly WordForm[]
  readonly flags?: readonly FlagForm[]
  /** Settings of the gateway that the command also accepts, as flags and variables. */
  readonly settings?: readonly Setting[]
  /** Text that the help shows after the tables. */
  readonly notes?: string
  readonly example: Example
}

/** An example call that can be run unchanged. */
export interface Example {
  readonly run: string
  /** Sample output on a terminal; it depends on the ledger. */
  readonly prints?: string
}

/** An argument without dashes. */
export interface WordForm {
  /** Placeholder in the help. */
  readonly name: string
  readonly help: string
  readonly isOptional?: true
  /** Whether the argument may be repeated. */
  readonly isMany?: true
  /** Allowed values, if there is a closed list. */
  readonly choices?: readonly string[]
  /** Whether the argument is a path. */
  readonly isFile?: true
}

/** A flag that is not a setting. */
export interface FlagForm {
  /** Name without dashes. */
  readonly name: string
  /** Placeholder of the value in the help; empty if the flag has no value. */
  readonly value: string
  readonly help: string
  readonly isRequired?: true
  readonly isMany?: true
  readonly choices?: readonly string[]
}

/** The flag that prints JSON on a terminal. */
export const jsonFlag: FlagForm = {
  name: 'json',
  value: '',
  help: 'print JSON even on a terminal; output to a pipe is always JSON',
}

/** Default value of `urlFlag`. */
export const defaultUrl = 'http://127.0.0.1:4000'

/** The flag that names the gateway to connect to. */
export const urlFlag: FlagForm = {
  name: 'url',
  value: 'URL',
  help: `URL of the running gateway (${defaultUrl})`,
}

/** All flags of a command, including the flags of its settings. */
export function flagForms({ flags = [], settings = [] }: Declaration): readonly FlagForm[] {
  const ofSettings = settings.flatMap(({ flag, value, help, type: { choices } }) =>
    flag === undefined ? [] : [{ name: flag, value, help, ...(choices && { choices }) }],
  )
  return [...flags, ...ofSettings]
}
