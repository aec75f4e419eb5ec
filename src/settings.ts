import {
  type Declaration,
  type Declarations,
  declarations,
  declarationsByHeading,
  path,
} from './setting-list.ts'
import type { ValueType } from './setting-values.ts'

/** Every setting of a gateway with all of its names, made of the declarations. */

/** One setting as the operator knows it. */
export interface Setting {
  /** In a settings file. */
  readonly name: string
  readonly variable: string
  /** Without dashes; `undefined` for a secret, because every user of the machine can read a command line. */
  readonly flag: string | undefined
  /** The placeholder of the value in the help; empty where the flag takes none. */
  readonly value: string
  /** For a terminal. */
  readonly help: string
  /** `undefined` where the help says what happens without it. */
  readonly byDefault: string | undefined
  readonly type: ValueType<unknown>
  /** What happens without a value, for a terminal. */
  readonly without: string | undefined
  readonly declared: Declaration
  /** Of a secret: the setting that names a file which holds it. */
  readonly inFile?: Setting
}

type Declared = typeof declarations
type DeclaredName = keyof Declared
type SecretName = {
  [K in DeclaredName]: Declared[K]['type'] extends { readonly mask: unknown } ? K : never
}[DeclaredName]

/** What each setting means. A setting without a value is `undefined` where it has no default. */
export type SettingValues = {
  readonly [K in DeclaredName]:
    | Exclude<ReturnType<Declared[K]['type']['parse']>, undefined>
    | (Declared[K] extends { readonly byDefault: string } ? never : undefined)
}

/**
 * Every setting by name, in the order of the help; behind each secret the setting of its file. Types do not follow names that
 * are made at run time.
 */
export const settings = named(declarations) as Readonly<
  Record<DeclaredName | `${SecretName}File`, Setting>
>

/** The same by heading. */
export const settingsByHeading = Object.entries(declarationsByHeading).map(
  ([heading, group]) => [heading, Object.values(named(group))] as const,
)

/** The settings that say which database. */
export const databaseSettings: readonly Setting[] = [
  settings.configFile,
  settings.databaseUrl,
  settings.databaseUrlFile,
]

/** The settings that say where the key of tokens is, and what a token must name. */
export const keySettings: readonly Setting[] = [
  ...databaseSettings,
  settings.keyFile,
  settings.jwtSecret,
  settings.jwtSecretFile,
  settings.jwtIssuer,
  settings.jwtAudience,
]

function named(group: Declarations): Readonly<Record<string, Setting>> {
  const all = Object.entries(group).flatMap(([name, declaration]) => {
    const setting = settingOf(name, declaration)
    return setting.inFile === undefined ? [setting] : [setting, setting.inFile]
  })
  return Object.fromEntries(all.map((setting) => [setting.name, setting]))
}

function plain(text: string): string {
  return text.replaceAll('`', '')
}

/** The setting of the file that holds a secret. */
function fileOf(variable: string): Declaration {
  const help = `file that holds the value of \`${variable}\`; a line break at its end does not count`
  return { type: path, help }
}

function settingOf(name: string, declared: Declaration): Setting {
  const { type, byDefault, without, help } = declared
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const variable = dashed.toUpperCase().replaceAll('-', '_')
  const isSecret = type.mask !== undefined
  return {
    name,
    variable,
    flag: declared.flag ?? (isSecret ? undefined : dashed),
    value: type.value,
    help: plain(without === undefined ? help : `${help}; by default ${without}`),
    without: without && plain(without),
    byDefault,
    type,
    declared,
    ...(isSecret ? { inFile: settingOf(`${name}File`, fileOf(variable)) } : {}),
  }
}
