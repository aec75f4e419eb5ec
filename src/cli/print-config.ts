import { type EffectiveSetting, effectiveSettings } from '../config.ts'
import { done, type ProcessIo, table } from './command.ts'

/** Prints the effective settings and the source of each: a table on a terminal, JSON when piped. */
export function printConfig(process: ProcessIo, words: readonly string[]): number {
  const effective = effectiveSettings(process.env, words)
  process.stdout(process.isTerminal ? `${tableOf(effective)}\n` : `${jsonOf(effective)}\n`)
  return done
}

function tableOf(effective: readonly EffectiveSetting[]): string {
  const names = Math.max(...effective.map(({ setting }) => setting.name.length))
  return table(
    effective.map(({ setting: { name, without = 'none' }, origin, place, value }) => {
      const shown = value === null ? `(${without})` : String(value)
      const from = origin === 'default' ? origin : `${origin}: ${place}`
      return [`${name.padEnd(names)}  ${shown}`, from]
    }),
  )
}

function jsonOf(effective: readonly EffectiveSetting[]): string {
  const members = effective.map(({ setting, origin, place, value }) => {
    return [setting.name, { value, origin, ...(origin === 'default' ? {} : { place }) }]
  })
  return JSON.stringify(Object.fromEntries(members), undefined, 2)
}
