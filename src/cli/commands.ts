import type { Command } from './command.ts'
import { help, usage } from './help.ts'

/** The commands by name; `help.ts` lists their declarations. */

/** Loads the code of each command when it runs, because some commands load the whole program. */
const loads: { readonly [name: string]: () => Promise<Command> } = {
  serve: async () => (await import('./serve.ts')).serve,
  config: async () => (await import('./config.ts')).config,
  status: async () => (await import('./status.ts')).status,
  token: async () => (await import('./token.ts')).token,
  faucet: async () => (await import('./faucet.ts')).faucet,
  submit: async () => (await import('./submit.ts')).submit,
  feed: async () => (await import('./feed.ts')).feed,
  demo: async () => (await import('./demo.ts')).demo,
  inspect: async () => (await import('./inspect.ts')).inspect,
  verify: async () => (await import('./verify.ts')).verify,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  snapshot: async () => (await import('./snapshot.ts')).snapshot,
  partition: async () => (await import('./partition.ts')).partition,
  distribute: async () => (await import('./distribute.ts')).distribute,
  'rebuild-activity': async () => (await import('./rebuild-activity.ts')).rebuildActivity,
  completion: async () => (await import('./completion.ts')).completion,
  help: async () => help,
}

/** Returns the command of that name; for no name or an unknown name, a command that prints the help or an error. */
export async function commandOf(name: string | undefined): Promise<Command['run']> {
  const load = name !== undefined && Object.hasOwn(loads, name) ? loads[name] : undefined
  return load === undefined ? usage(name) : (await load()).run
}
