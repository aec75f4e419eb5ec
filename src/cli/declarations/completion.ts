import type { Declaration } from '../declaration.ts'

/** The command that writes completions. */

/** The shells that can complete the program's words. */
export const shells = ['bash', 'zsh', 'fish'] as const

export const completionDeclaration: Declaration = {
  name: 'completion',
  summary: 'write what lets bash, zsh or fish complete commands and flags',
  about: 'Prints a script with which a shell completes commands, flags and their values.',
  words: [{ name: 'SHELL', help: shells.join(', '), choices: shells }],
  notes: `For every new shell, a line in its start file:

  ~/.bashrc                    source <(ledger-gateway completion bash)
  ~/.zshrc, behind compinit    source <(ledger-gateway completion zsh)
  ~/.config/fish/config.fish   ledger-gateway completion fish | source`,
  example: { run: 'ledger-gateway completion bash > ledger-gateway.bash' },
}
