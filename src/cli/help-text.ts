import { settingTable, table } from './command.ts'
import type { Declaration, FlagForm, WordForm } from './declaration.ts'

/** The help of a command, generated from its declaration. */

export function helpText(declaration: Declaration): string {
  const { about, settings = [], notes, example } = declaration
  const own = [...(declaration.words ?? []).map(wordRow), ...(declaration.flags ?? []).map(flagRow)]
  const parts = [
    about,
    `Usage: ${usageOf(declaration)}`,
    ...(own.length === 0 ? [] : [table(own)]),
    ...(settings.length === 0 ? [] : [settingTable(settings)]),
    ...(notes === undefined ? [] : [notes]),
    `Example: ${example.run}`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** The usage line of a command, with placeholders. */
export function usageOf({ name, words = [], flags = [], settings = [] }: Declaration): string {
  const required = flags.filter(({ isRequired }) => isRequired === true)
  const hasMore = flags.length + settings.length > required.length
  const shown = [...words.map(shownWord), ...required.map(flagUsage)]
  return ['ledger-gateway', name, ...shown, ...(hasMore ? ['[FLAGS]'] : [])].join(' ')
}

function shownWord({ name, isOptional, isMany }: WordForm): string {
  const word = isMany === true ? `${name}…` : name
  return isOptional === true ? `[${word}]` : word
}

function flagUsage({ name, value, isMany }: FlagForm): string {
  const once = `--${name} ${value}`
  return isMany === true ? `${once} [${once} …]` : once
}

function wordRow({ name, help }: WordForm): [string, string] {
  return [name, help]
}

function flagRow({ name, value, help }: FlagForm): [string, string] {
  return [`--${name} ${value}`.trim(), help]
}
