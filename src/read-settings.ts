import type { FlagProblem, Flags } from './lib/flags.ts'
import { type Setting, type SettingValues, settings } from './settings.ts'
import {
  type FileProblem,
  readSettingsFile,
  readText,
  type SettingsFile,
  textInFile,
} from './settings-file.ts'

/** Reads settings from the settings file, the environment and the flags, of which the last one that has a value wins. */

/** One thing that is wrong, to be shown with all the others. */
export type ConfigError =
  | FlagProblem
  | FileProblem
  | {
      readonly code: 'SETTING_INVALID'
      readonly name: string
      /** Where the value came from: a variable, a flag, or a member of a file. */
      readonly setting: string
      /** As it was given; `undefined` where it may hold a password. */
      readonly given: unknown
      readonly expected: string
    }
  | {
      /** One source gives a secret, and a file with the secret too. */
      readonly code: 'SETTING_GIVEN_TWICE'
      readonly settings: readonly [string, string]
    }

/** The environment of a process, or as much of it as a test wants. */
export interface Environment {
  readonly [variable: string]: string | undefined
}

/** Where a value comes from. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** What is given of a setting. */
export interface Given {
  /** The value, or the default; `undefined` where there is neither. */
  readonly text: string | undefined
  readonly origin: Origin
  /** What the operator knows it by. */
  readonly place: string
}

/** What is given of some settings, and what they mean. */
export interface Reading {
  /** By the names of the settings; those that are not among them are left out. */
  readonly values: Partial<SettingValues>
  readonly given: ReadonlyMap<string, Given>
  readonly errors: readonly ConfigError[]
  /** What is wrong with values that do not count, because another source wins. */
  readonly overruled: readonly ConfigError[]
}

/** Reads settings, all of them by default. Files that they name are read; nothing else is. */
export function readSettings(
  env: Environment,
  flags: Flags['values'],
  known: readonly Setting[] = Object.values(settings),
): Reading {
  const sources = [ofFlags(flags), ofEnvironment(env)]
  const [{ text: path, place } = byDefault(settings.configFile)] = found(
    settings.configFile,
    sources,
  )
  const file = path ? readSettingsFile(place, path) : undefined
  const errors: ConfigError[] = []
  if (file?.ok === false) errors.push(file.error)
  if (file?.ok === true) {
    errors.push(...file.value.problems)
    sources.push(ofFile(file.value))
  }
  const overruled: ConfigError[] = []
  const given = new Map<string, Given>()
  const values: Record<string, unknown> = {}
  for (const setting of known) {
    const [first = byDefault(setting), ...others] = found(setting, sources)
    given.set(setting.name, first)
    values[setting.name] = first.value
    errors.push(...first.errors)
    overruled.push(...others.flatMap((other) => other.errors))
  }
  return { values, given, errors, overruled }
}

/** A value that a setting cannot have. */
export function invalid(
  { name, type }: Setting,
  place: string,
  given: unknown,
  expected = type.expected,
): ConfigError {
  const shown = type.mask === undefined && type.isQuiet !== true ? given : undefined
  return { code: 'SETTING_INVALID', name, setting: place, given: shown, expected }
}

/** What one source gives of a setting. */
interface Found extends Given {
  readonly value: unknown
  readonly errors: readonly ConfigError[]
}

/** Gives what one source has of a setting. */
type Source = (setting: Setting) => Found | undefined

/** What the sources give of a setting, or of the file that holds it, the strongest first. */
function found(setting: Setting, sources: readonly Source[]): readonly Found[] {
  const { inFile } = setting
  return sources.flatMap((source) => {
    const itself = source(setting)
    const file = inFile && source(inFile)
    if (itself === undefined) return file === undefined ? [] : [inNamedFile(setting, file)]
    if (file === undefined) return [itself]
    const twice = { code: 'SETTING_GIVEN_TWICE', settings: [itself.place, file.place] } as const
    return [{ ...itself, errors: [...itself.errors, twice] }]
  })
}

/** What a file holds that a setting names. The setting that names it says what is wrong with the name. */
function inNamedFile(setting: Setting, file: Found): Found {
  const { text: path, origin } = file
  const place = `${setting.variable} in ${path}`
  if (!path) return { ...file, value: undefined, errors: [] }
  const text = readText(file.place, path)
  if (text.ok) return parsed(setting, { text: text.value, origin, place })
  return { text: undefined, origin, place, value: undefined, errors: [text.error] }
}

function parsed(setting: Setting, given: Given, shown: unknown = given.text): Found {
  const value = given.text === undefined ? undefined : setting.type.parse(given.text)
  const isWrong = value === undefined && given.text !== undefined
  return { ...given, value, errors: isWrong ? [invalid(setting, given.place, shown)] : [] }
}

function byDefault(setting: Setting): Found {
  const { variable: place, byDefault: text } = setting
  return parsed(setting, { text, origin: 'default', place })
}

const ofFlags =
  (flags: Flags['values']): Source =>
  (setting) => {
    const { flag } = setting
    const [text] = (flag === undefined ? undefined : flags.get(flag)) ?? []
    return text === undefined
      ? undefined
      : parsed(setting, { text, origin: 'flag', place: `--${flag}` })
  }

/** An empty variable counts as none, as in a shell script that passes on what it was not given. */
const ofEnvironment =
  (env: Environment): Source =>
  (setting) => {
    const { variable: place } = setting
    const text = env[place]
    return text ? parsed(setting, { text, origin: 'environment', place }) : undefined
  }

const ofFile =
  ({ path, members }: SettingsFile): Source =>
  (setting) => {
    const value = members.get(setting.name)
    if (value === undefined) return undefined
    const text = textInFile(value, setting.type)
    const given = { origin: 'file', place: `${setting.name} in ${path}` } as const
    if (text.ok) return parsed(setting, { ...given, text: text.value }, value)
    const { member, item, expected } = text.error
    const error = invalid(setting, `${setting.name}${member} in ${path}`, item, expected)
    return { ...given, text: undefined, value: undefined, errors: [error] }
  }
