import cluster from 'node:cluster'
import { configMessage, parseConfig, printFlag } from '../config.ts'
import { type Command, done, refuse, requestsHelp } from './command.ts'
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
    if (!config.ok) return refuse(process, 'serve', config.error.map(configMessage))
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
