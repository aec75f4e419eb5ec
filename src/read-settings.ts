import { existsSync } from 'node:fs'
import type { FlagProblem, Flags } from './lib/flags.ts'
import { type Setting, type SettingValues, settings } from './settings.ts'
import {
  type FileProblem,
  readSettingsFile,
  readText,
  type SettingsFile,
  textInFile,
} from './settings-file.ts'

/** Reads settings from the settings file, the environment and the flags. A later source overrides an earlier one. */

/** A problem with the settings. All problems are reported together. */
export type ConfigError =
  | FlagProblem
  | FileProblem
  | {
      readonly code: 'SETTING_INVALID'
      readonly name: string
      /** Source of the value: a variable, a flag, or a member of a file. */
      readonly setting: string
      /** The value as it was set; `undefined` if it may contain a password. */
      readonly given: unknown
      readonly expected: string
    }
  | {
      /** One source sets both a secret and a file that holds the secret. */
      readonly code: 'SETTING_GIVEN_TWICE'
      readonly settings: readonly [string, string]
    }

/** The environment variables of a process, or some of them in a test. */
export interface Environment {
  readonly [variable: string]: string | undefined
}

/** The source of a value. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** The text of a setting and its source. */
export interface GivenSetting {
  /** The value, or the default; `undefined` if there is neither. */
  readonly text: string | undefined
  readonly origin: Origin
  /** Where the operator set it: a variable, a flag, or a member of the settings file. */
  readonly place: string
}

/** Settings that were read. */
export interface Reading {
  /** Parsed values by setting name; only settings that were read have one. */
  readonly values: Partial<SettingValues>
  readonly given: ReadonlyMap<string, GivenSetting>
  readonly errors: readonly ConfigError[]
  /** Problems of values that another source overrides. */
  readonly overruled: readonly ConfigError[]
}

/** Reads settings, all of them by default. Reads the settings file and the files of secrets, and no other file. */
export function readSettings(
  env: Environment,
  flags: Flags['values'],
  known: readonly Setting[] = Object.values(settings),
): Reading {
  const sources = [ofFlags(flags), ofEnvironment(env)]
  const [{ text: path, place } = byDefault(settings.configFile)] = valuesOf(
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
  const given = new Map<string, GivenSetting>()
  const values: Record<string, unknown> = {}
  for (const setting of known) {
    const [first = byDefault(setting), ...others] = valuesOf(setting, sources)
    given.set(setting.name, first)
    values[setting.name] = first.value
    errors.push(...first.errors)
    overruled.push(...others.flatMap((other) => other.errors))
  }
  return { values, given, errors, overruled }
}

/** The error of a value that a setting does not accept. */
export function invalid(
  { name, type }: Setting,
  place: string,
  given: unknown,
  expected = type.expected,
): ConfigError {
  const shown = type.mask === undefined && type.isQuiet !== true ? given : undefined
  return { code: 'SETTING_INVALID', name, setting: place, given: shown, expected }
}

/** The value of a setting in one source. */
interface Found extends GivenSetting {
  readonly value: unknown
  readonly errors: readonly ConfigError[]
}

/** Returns the value of a setting in one source; `undefined` if the source does not set it. */
type Source = (setting: Setting) => Found | undefined

/** The values of a setting, or of the file that holds it, in all sources; the overriding source first. */
function valuesOf(setting: Setting, sources: readonly Source[]): readonly Found[] {
  const { inFile } = setting
  return sources.flatMap((source) => {
    const itself = source(setting)
    const file = inFile && source(inFile)
    if (itself === undefined) return file === undefined ? [] : [readSecretFile(setting, file)]
    if (file === undefined) return [itself]
    const twice = { code: 'SETTING_GIVEN_TWICE', settings: [itself.place, file.place] } as const
    return [{ ...itself, errors: [...itself.errors, twice] }]
  })
}

/** The value in a file that another setting names. Problems with the file name are reported for that other setting. */
function readSecretFile(setting: Setting, file: Found): Found {
  const { text: path, origin } = file
  const place = `${setting.variable} in ${path}`
  if (!path) return { ...file, value: undefined, errors: [] }
  const text = readText(file.place, path)
  if (text.ok) return parsed(setting, { text: text.value, origin, place })
  // A text that names no file may be the secret itself.
  const shown = existsSync(path) ? path : undefined
  const error = { ...text.error, path: shown }
  return { text: undefined, origin, place, value: undefined, errors: [error] }
}

function parsed(setting: Setting, given: GivenSetting, shown: unknown = given.text): Found {
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

/** An empty variable counts as unset, because shell scripts pass on variables that they did not receive. */
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
