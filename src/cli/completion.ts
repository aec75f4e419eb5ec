import { readCall } from './call.ts'
import { type Command, done } from './command.ts'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { zshScript } from './completion/zsh.ts'
import { completionDeclaration, type shells } from './declarations/completion.ts'
import { commands } from './help.ts'

/** Prints a shell completion script, generated from the declarations of the commands. */
export const completion: Command = {
  run: async (process, words) => {
    const call = readCall(process, completionDeclaration, words)
    if (typeof call === 'number') return call
    const script = scripts.get(call.word(0))
    process.stdout(script?.(commands) ?? '')
    return done
  },
}

const scriptOf: { readonly [S in (typeof shells)[number]]: typeof bashScript } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}
const scripts = new Map(Object.entries(scriptOf))
