import { readFileSync } from 'node:fs'
import { nearest } from './lib/nearest.ts'
import { err, ok, type Result } from './lib/result.ts'
import type { JsonType, ValueType } from './setting-values.ts'
import { type Setting, settings } from './settings.ts'

/** Reads the settings file that `--config` or `CONFIG_FILE` names. */

/** Why a file that the settings name gives nothing. */
export type FileProblem =
  | {
      readonly code: 'FILE_UNREADABLE'
      /** What names the file: a variable, a flag, or a member of the settings file. */
      readonly setting: string
      readonly path: string
      /** The system's name for it, such as `ENOENT`. */
      readonly reason: string
    }
  | {
      readonly code: 'SETTINGS_NOT_JSON'
      readonly path: string
      /** Line and column, where they are known. */
      readonly place: string | undefined
    }
  | { readonly code: 'SETTINGS_NOT_OBJECT'; readonly path: string }
  | {
      readonly code: 'SETTING_UNKNOWN'
      readonly path: string
      readonly member: string
      readonly meant: string | undefined
    }

/** The members of a settings file. */
export interface SettingsFile {
  readonly path: string
  readonly members: ReadonlyMap<string, unknown>
  readonly problems: readonly FileProblem[]
}

/** The settings that a settings file may have: it does not name another one. */
export const settingsInFile: readonly Setting[] = Object.values(settings).filter(
  (setting) => setting !== settings.configFile,
)

/** Reads a settings file. Members that it cannot have are among the problems. */
export function readSettingsFile(setting: string, path: string): Result<SettingsFile, FileProblem> {
  const text = readText(setting, path)
  if (!text.ok) return text
  let json: unknown
  try {
    json = JSON.parse(text.value)
  } catch (failure) {
    // The message itself repeats a part of the file, which may be a secret.
    const place = placeOf(text.value, failure instanceof Error ? failure.message : '')
    return err({ code: 'SETTINGS_NOT_JSON', path, place })
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return err({ code: 'SETTINGS_NOT_OBJECT', path })
  }
  const members = new Map<string, unknown>(Object.entries(json))
  const known = new Set(['$schema', ...settingsInFile.map(({ name }) => name)])
  const unknown = [...members.keys()].filter((member) => !known.has(member))
  const problems = unknown.map((member) => {
    return { code: 'SETTING_UNKNOWN', path, member, meant: meantBy(member) } as const
  })
  return ok({ path, members, problems })
}

/** The text of a file that a setting names, without the end of its last line. */
export function readText(setting: string, path: string): Result<string, FileProblem> {
  try {
    return ok(readFileSync(path, 'utf8').replace(/\r?\n$/, ''))
  } catch (failure) {
    const isNamed = failure instanceof Error && 'code' in failure
    const reason = String(isNamed ? failure.code : failure)
    return err({ code: 'FILE_UNREADABLE', setting, path, reason })
  }
}

/** The member by its variable or flag, or the one that is written most like it. */
function meantBy(member: string): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const names = new Map(
    settingsInFile.flatMap(({ name, variable, flag = name }) => {
      return [flag, variable, name].map((one) => [plain(one), name] as const)
    }),
  )
  return names.get(nearest(plain(member), [...names.keys()]) ?? '')
}

/** Where a text stops being JSON: at what is no word or sign of it, or where the engine says. */
function placeOf(text: string, message: string): string | undefined {
  const signs = /\s*(?:[{}[\],:]|"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true\b|false\b|null\b)/gy
  let end = 0
  for (const match of text.matchAll(signs)) end = match.index + match[0].length
  end += /\s*/y.exec(text.slice(end))?.[0].length ?? 0
  const [, position] = /at position (\d+)/.exec(message) ?? []
  const at = end < text.length ? end : position
  if (at === undefined) return undefined
  const lines = text.slice(0, Number(at)).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/** A value of a wrong type in a settings file. */
export interface WrongType {
  /** Which item of the value it is, such as `.3`; empty for the value itself. */
  readonly member: string
  readonly item: unknown
  readonly expected: string
}

/** The text of a value in a settings file, as its variable would have it. */
export function textInFile(
  value: unknown,
  { json, expected }: ValueType<unknown>,
): Result<string, WrongType> {
  const types: readonly JsonType[] = [json.type].flat()
  if (!types.some((type) => isOfType(value, type))) {
    return err({ member: '', item: value, expected: inWords[types.join()] ?? expected })
  }
  if (typeof value === 'boolean') return ok(value ? 'on' : 'off')
  if (!Array.isArray(value)) return ok(String(value))
  const index = value.findIndex((item) => typeof item !== 'string' || !/^[^,]+$/.test(item))
  if (index < 0) return ok(value.join(','))
  return err({ member: `.${index}`, item: value[index], expected: 'a string without commas' })
}

/** Of types whose values are other words in a file than elsewhere, or look alike. */
const inWords: Readonly<Record<string, string>> = { boolean: 'true or false', string: 'a string' }

function isOfType(value: unknown, type: JsonType): boolean {
  if (type === 'integer') return Number.isInteger(value)
  return type === 'array' ? Array.isArray(value) : typeof value === type
}

/** A text as a settings file would have it; of a secret what may be shown. */
export function valueInFile(
  text: string,
  { json, mask }: ValueType<unknown>,
): boolean | number | string | readonly string[] {
  const types: readonly JsonType[] = [json.type].flat()
  if (mask !== undefined) return mask(text)
  if (types.includes('boolean')) return text !== 'off'
  if (types.includes('integer') && /^[0-9]+$/.test(text)) return Number(text)
  if (types.includes('array') && text !== '*') return text.split(',').map((item) => item.trim())
  return text
}
