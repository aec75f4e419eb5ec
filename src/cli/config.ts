import { checkConfig } from '../check-config.ts'
import { misspelledIn } from '../config.ts'
import { settingsSchema } from '../settings-schema.ts'
import { readCall } from './call.ts'
import { type Command, done, failed, requestsHelp } from './command.ts'
import { configDeclaration } from './declarations/gateway.ts'

/** Checks settings without starting a gateway, or prints the JSON Schema of a settings file. */
export const config: Command = {
  run: async (process, words) => {
    const [verb, ...flags] = words
    // `checkConfig` reports problems of the flags together with all other problems.
    const isCheck = verb === 'check' && !requestsHelp(words)
    const call = readCall(process, configDeclaration, isCheck ? [verb] : words)
    if (typeof call === 'number') return call
    if (call.word(0) === 'schema') {
      process.stdout(`${JSON.stringify(settingsSchema(), undefined, 2)}\n`)
      return done
    }
    for (const { variable, meant } of misspelledIn(process.env)) {
      process.stderr(`${variable} is not a setting; did you mean ${meant}?\n`)
    }
    const problems = await checkConfig(process.env, flags)
    const lines = problems.map(({ message }) => `${message}\n`).join('')
    call.print(lines || 'The settings are valid.\n', { problems })
    return problems.length === 0 ? done : failed
  },
}
