import { readFileSync } from 'node:fs'
import { withoutByteOrderMark } from './lib/byte-order-mark.ts'
import { isJsonObject } from './lib/json.ts'
import { nearest } from './lib/nearest.ts'
import { err, ok, type Result } from './lib/result.ts'
import { messageIn } from './lib/thrown.ts'
import type { JsonType, ValueType } from './setting-values.ts'
import { type Setting, settings } from './settings.ts'

/** Reads the settings file that `--config` or `CONFIG_FILE` names. */

/** A problem with a file that the settings name. */
export type FileProblem =
  | FileUnreadable
  | {
      readonly code: 'SETTINGS_NOT_JSON'
      readonly path: string
      /** Line and column, if they are known. */
      readonly place: string | undefined
    }
  | { readonly code: 'SETTINGS_NOT_OBJECT'; readonly path: string }
  | {
      readonly code: 'SETTING_UNKNOWN'
      readonly path: string
      readonly member: string
      readonly meant: string | undefined
    }

interface FileUnreadable {
  readonly code: 'FILE_UNREADABLE'
  /** Source of the file name: a variable, a flag, or a member of the settings file. */
  readonly setting: string
  /** `undefined` if no file has this name and it may be a secret. */
  readonly path: string | undefined
  /** Reason in words, with the error code of the system. */
  readonly reason: string
}

export interface SettingsFile {
  readonly path: string
  readonly members: ReadonlyMap<string, unknown>
  readonly problems: readonly FileProblem[]
}

/** The settings that a settings file may contain: all but the settings file itself. */
export const settingsInFile: readonly Setting[] = Object.values(settings).filter(
  (setting) => setting !== settings.configFile,
)

/** Reads a settings file. Unknown members are reported as problems. */
export function readSettingsFile(setting: string, path: string): Result<SettingsFile, FileProblem> {
  const read = readText(setting, path)
  if (!read.ok) return read
  const text = withoutByteOrderMark(read.value)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (failure) {
    // The engine's message repeats a part of the file, which may be a secret.
    const place = errorPosition(text, messageIn(failure))
    return err({ code: 'SETTINGS_NOT_JSON', path, place })
  }
  if (!isJsonObject(json)) return err({ code: 'SETTINGS_NOT_OBJECT', path })
  const members = new Map<string, unknown>(Object.entries(json))
  const known = new Set(['$schema', ...settingsInFile.map(({ name }) => name)])
  const unknown = [...members.keys()].filter((member) => !known.has(member))
  const problems = unknown.map((member) => {
    return { code: 'SETTING_UNKNOWN', path, member, meant: similarSetting(member) } as const
  })
  return ok({ path, members, problems })
}

/** Reads the text of a file that a setting names, without the final line break. */
export function readText(setting: string, path: string): Result<string, FileUnreadable> {
  try {
    return ok(readFileSync(path, 'utf8').replace(/\r?\n$/, ''))
  } catch (failure) {
    return err({ code: 'FILE_UNREADABLE', setting, path, reason: messageIn(failure) })
  }
}

/** The setting whose variable, flag or name is most similar to a text. */
function similarSetting(member: string): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const names = new Map(
    settingsInFile.flatMap(({ name, variable, flag = name }) => {
      return [flag, variable, name].map((one) => [plain(one), name] as const)
    }),
  )
  return names.get(nearest(plain(member), [...names.keys()]) ?? '')
}

/** Position where a text stops being JSON: at the first invalid token, or else where the engine reports it. */
function errorPosition(text: string, message: string): string | undefined {
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

/** A value of the wrong type in a settings file. */
export interface WrongType {
  /** Path of the item in the value, such as `.3`; empty for the value itself. */
  readonly member: string
  readonly item: unknown
  readonly expected: string
}

/** Converts a value of a settings file to the text that its variable would have. */
export function textInFile(
  value: unknown,
  { json, expected, mask }: ValueType<unknown>,
): Result<string, WrongType> {
  const types: readonly JsonType[] = [json.type].flat()
  if (!types.some((type) => isOfType(value, type))) {
    return err({ member: '', item: value, expected: expectedByType[types.join()] ?? expected })
  }
  if (typeof value === 'boolean') return ok(value ? 'on' : 'off')
  if (!Array.isArray(value)) return ok(String(value))
  const pattern = new RegExp(json.items?.pattern ?? '')
  const index = value.findIndex((item) => typeof item !== 'string' || !pattern.test(item))
  if (index < 0) return ok(value.join(','))
  const ofItem = mask === undefined ? 'a string without commas' : expected
  return err({ member: `.${index}`, item: value[index], expected: ofItem })
}

/** Descriptions for JSON types whose values a file writes differently from a variable. */
const expectedByType: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  string: 'a string',
}

function isOfType(value: unknown, type: JsonType): boolean {
  if (type === 'integer') return Number.isInteger(value)
  return type === 'array' ? Array.isArray(value) : typeof value === type
}

/** Converts a text to the value that a settings file would have; secrets are masked. */
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
