import {
  type Declaration,
  type Declarations,
  declarations,
  declarationsByHeading,
  path,
} from './setting-list.ts'
import type { ValueType } from './setting-values.ts'

/** Every setting of a gateway with all of its names, derived from the declarations. */

/** A setting with its names and its help. */
export interface Setting {
  /** Name in a settings file. */
  readonly name: string
  readonly variable: string
  /** Name of the flag without dashes; `undefined` for a secret, because every user of the machine can read a command line. */
  readonly flag: string | undefined
  /** Placeholder of the value in the help; empty if the flag has no value. */
  readonly value: string
  /** Description for a terminal. */
  readonly help: string
  /** Default value; `undefined` if the help describes the behaviour without a value. */
  readonly byDefault: string | undefined
  readonly type: ValueType<unknown>
  /** Description of the behaviour without a value, for a terminal. */
  readonly without: string | undefined
  readonly declared: Declaration
  /** Only for a secret: the setting that names the file which holds the secret. */
  readonly inFile?: Setting
}

type Declared = typeof declarations
type DeclaredName = keyof Declared
type SecretName = {
  [K in DeclaredName]: Declared[K]['type'] extends { readonly mask: unknown } ? K : never
}[DeclaredName]

/** The parsed values of all settings. A setting without a value and without a default is `undefined`. */
export type SettingValues = {
  readonly [K in DeclaredName]:
    | Exclude<ReturnType<Declared[K]['type']['parse']>, undefined>
    | (Declared[K] extends { readonly byDefault: string } ? never : undefined)
}

/**
 * Every setting by name, in the order of the help; each secret is followed by the setting of its file. The cast is needed
 * because the names of the file settings are built at run time.
 */
export const settings = named(declarations) as Readonly<
  Record<DeclaredName | `${SecretName}File`, Setting>
>

/** Every setting by heading. */
export const settingsByHeading = Object.entries(declarationsByHeading).map(
  ([heading, group]) => [heading, Object.values(named(group))] as const,
)

export const databaseSettings: readonly Setting[] = [
  settings.configFile,
  settings.databaseUrl,
  settings.databaseUrlFile,
]

/** The settings of the key that signs tokens, and of the claims that a token must have. */
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
  const help = `file that contains the value of \`${variable}\`; a trailing line break is ignored`
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
