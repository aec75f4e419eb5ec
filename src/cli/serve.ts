import cluster from 'node:cluster'
import { type ConfigError, configMessage, parseConfig } from '../config.ts'
import { settings } from '../settings.ts'
import { asksForHelp, type Command, done, failed, refuse, settingTable } from './command.ts'

/** Runs the gateway until the process shall end. */
export const serve: Command = {
  help: `Runs the gateway: the ledger, GraphQL with GraphiQL, the live feed and the REST routes.

Usage: ledger-gateway serve [FLAGS]

Each setting is a flag or an environment variable; the flag wins. The secret has no flag, for
everybody on a machine can read the command lines of its processes.

${settingTable(Object.values(settings))}
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(serve.help)
      return done
    }
    const config = parseConfig(process.env, words)
    if (!config.ok) {
      const problems = config.error.map(configMessage)
      if (!config.error.every(isAboutDatabase)) return refuse(process, 'serve', problems)
      for (const problem of problems) process.stderr(`ledger-gateway serve: ${problem}\n`)
      return failed
    }
    if (config.value.workers > 1 && cluster.isPrimary) {
      const { runWorkers } = await import('./run-workers.ts')
      return runWorkers(process, config.value)
    }
    // Loaded only now, so that a refusal or the help does not wait for the whole gateway to load.
    const { runGateway } = await import('./run-gateway.ts')
    return runGateway(process, config.value)
  },
}

/** A database that cannot be used is refused in one way, whether its URL says so or it says so itself. */
function isAboutDatabase(error: ConfigError): boolean {
  const { database, wakeDatabase } = settings
  const names = [database.variable, `--${database.flag}`, wakeDatabase.variable]
  return error.code === 'SETTING_INVALID' && names.includes(error.setting)
}
