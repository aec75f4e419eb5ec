import type { Declaration } from '../declaration.ts'

/** The command that prints completion scripts. */

/** The shells that have a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const

export const completionDeclaration: Declaration = {
  name: 'completion',
  summary: 'print a completion script for bash, zsh or fish',
  about: 'Prints a script that lets a shell complete commands, flags and their values.',
  words: [{ name: 'SHELL', help: shells.join(', '), choices: shells }],
  notes: `To load the completions in every new shell, add a line to its startup file:

  ~/.bashrc                    source <(ledger-gateway completion bash)
  ~/.zshrc, after compinit     source <(ledger-gateway completion zsh)
  ~/.config/fish/config.fish   ledger-gateway completion fish | source`,
  example: { run: 'ledger-gateway completion bash > ledger-gateway.bash' },
}
