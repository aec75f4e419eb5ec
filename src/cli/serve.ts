import cluster from 'node:cluster'
import { type ConfigError, configMessage, parseConfig, printFlag } from '../config.ts'
import { settings } from '../settings.ts'
import { type Command, done, failed, refuse, requestsHelp } from './command.ts'
import { serveDeclaration } from './declarations/gateway.ts'
import { helpText } from './help-text.ts'
import { printConfig } from './print-config.ts'

/** Runs the gateway until the process has to stop. */
export const serve: Command = {
  run: async (process, words) => {
    if (requestsHelp(words)) {
      process.stdout(helpText(serveDeclaration))
      return done
    }
    const config = parseConfig(process.env, words)
    if (!config.ok) {
      const problems = config.error.map(configMessage)
      if (!config.error.every(isAboutDatabase)) return refuse(process, 'serve', problems)
      for (const problem of problems) process.stderr(`ledger-gateway serve: ${problem}\n`)
      return failed
    }
    if (words.includes(`--${printFlag}`)) return printConfig(process, words)
    if (config.value.workers > 1 && cluster.isPrimary) {
      const { runWorkers } = await import('./run-workers.ts')
      return runWorkers(process, config.value)
    }
    // The gateway is loaded only now, so that an error message or the help does not wait for it.
    const { runGateway } = await import('./run-gateway.ts')
    return runGateway(process, config.value)
  },
}

/** Whether the error is about the database. An invalid URL has the same exit code as a database that cannot be opened. */
function isAboutDatabase(error: ConfigError): boolean {
  const names = [settings.databaseUrl.name, settings.wakeDatabaseUrl.name]
  return error.code === 'SETTING_INVALID' && names.includes(error.name)
}
