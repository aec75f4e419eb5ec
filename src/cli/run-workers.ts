import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { ListenAddress } from '../lib/listen.ts'
import { createLog, type Log } from '../lib/log.ts'
import { ok } from '../lib/result.ts'
import { metricsListenMessage, openMetricsServer } from '../metrics/server.ts'
import { readWorkers } from '../metrics/workers.ts'
import { actualPort, addressInUse, listenMessage } from './address-in-use.ts'
import { done, fail, failed, type ProcessIo } from './command.ts'

/**
 * Runs several gateways behind one port (`WORKERS`), each in a worker process. The first process hands every new connection to
 * the next worker, restarts workers that end, and forwards signals. The workers share the database like gateways on several
 * machines.
 */

/** Id of the worker that reports the start for all workers. */
export const firstWorker = 1

/**
 * Variable with the number of a worker, from 1. The worker that replaces an ended one has its number, but another id, so that the
 * number of labels in the metrics does not grow.
 */
export const numberVariable = 'LEDGER_GATEWAY_WORKER'

/** Variable with the port of the workers. Port 0 would be another one whenever no worker was left to listen on it. */
export const portVariable = 'LEDGER_GATEWAY_PORT'

/** Milliseconds before a worker that ended is restarted: the first time, and at most. */
const [minPauseMs, maxPauseMs] = [1_000, 30_000]

/** Runs the workers until this process has to stop; resolves to the exit code. */
export async function runWorkers(process: ProcessIo, config: Config): Promise<number> {
  const { workers, logLevel, metrics: address } = config
  const taken = await addressInUse(config)
  if (taken !== undefined) return fail(process, 'serve', listenMessage(taken))
  const port = await actualPort(config)
  const start = (number: number) => startWorker(number, port)
  const ownLog = createLog({ clock: process.clock, write: process.stderr }, logLevel)
  const metrics = address && (await serveMetrics(ownLog, address))
  if (metrics?.ok === false) return fail(process, 'serve', metricsListenMessage(metrics.error))
  const log = metrics?.value.log ?? ownLog
  warnOfSettings(log, config)
  let isStopping = false
  const stopped = process.stopped.then((signal) => {
    isStopping = true
    signalAll(signal)
  })
  process.onClockConfirmed(() => signalAll('SIGUSR2'))

  /** Starts another worker whenever the worker with this number ends. */
  async function keepRunning({ ended: first }: StartedWorker, index: number): Promise<void> {
    const number = index + 1
    let ended = first
    let pauseMs = minPauseMs
    for (;;) {
      const begun = performance.now()
      const end = await ended
      if (isStopping) return
      log.warn('worker-ended', { worker: number, ...end })
      if (performance.now() - begun > maxPauseMs) pauseMs = minPauseMs
      await Promise.race([stopped, delay(pauseMs)])
      if (isStopping) return
      pauseMs = Math.min(pauseMs * 2, maxPauseMs)
      ended = start(number).ended
    }
  }

  // The first worker starts alone: it migrates the database, and creates the key that all workers sign with.
  const first = start(1)
  const ended = await Promise.race([first.ended, first.listening])
  if (ended !== undefined) {
    // A worker that ran has reported the reason itself.
    if (ended.reason !== undefined) fail(process, 'serve', ended.reason)
    await metrics?.value.close()
    return ended.exitCode ?? failed
  }
  // Workers that start after the signal would not receive it.
  const others = isStopping ? [] : Array.from({ length: workers - 1 }, (_, i) => start(i + 2))
  await Promise.all([first, ...others].map(keepRunning))
  await metrics?.value.close()
  return done
}

/** Logs settings that start the gateway, but should be changed. Of several processes the first one logs them, because it stays. */
export function warnOfSettings(log: Pick<Log, 'warn'>, { exposed, misspelled }: Config): void {
  for (const flag of exposed) log.warn('secret-in-arguments', { flag })
  for (const variable of misspelled) log.warn('setting-misspelled', { ...variable })
}

/** Serves the metrics of all workers and of this process; resolves to the server and a log whose events are counted. */
async function serveMetrics(log: Log, address: ListenAddress) {
  const { createProcessMetrics } = await import('../metrics/metrics.ts')
  const { read, contentType, countEvents } = createProcessMetrics('0')
  const readAll = async () => readWorkers(await read())
  const server = await openMetricsServer({ read: readAll, contentType, log }, address)
  if (server.ok) log.info('metrics-served', { url: server.value.url })
  return server.ok ? ok({ ...server.value, log: countEvents(log) }) : server
}

interface StartedWorker {
  /** Resolves when the worker accepts connections. */
  readonly listening: Promise<undefined>
  readonly ended: Promise<WorkerEnd>
}

/** How a worker ended; `reason` says why it could not be started. */
interface WorkerEnd {
  readonly exitCode?: number | null
  readonly signal?: string | null
  readonly reason?: string
}

function startWorker(number: number, port: number): StartedWorker {
  const worker = cluster.fork({ [numberVariable]: number, [portVariable]: port })
  closeUntaken(worker)
  return {
    listening: new Promise((resolve) => worker.on('listening', () => resolve(undefined))),
    ended: new Promise((resolve) => {
      worker.on('exit', (exitCode, signal) => resolve({ exitCode, signal }))
      // A message to a worker that has just ended is an error too, and its exit follows.
      worker.on('error', ({ message: reason }) => {
        if (worker.process.pid === undefined) resolve({ reason })
      })
    }),
  }
}

/** Closes the connection that a worker was given and had not taken when it ended. Node waits for the worker's answer forever. */
function closeUntaken(worker: Worker): void {
  const child = worker.process
  const { send } = child
  let given: number | undefined
  Object.assign(child, {
    send: (message: { readonly act?: string; readonly seq: number }, ...rest: unknown[]) => {
      if (message.act === 'newconn') given = message.seq
      return Reflect.apply(send, child, [message, ...rest])
    },
  })
  // The answer by which Node closes its side of a connection. An answer that was there before makes it do nothing.
  const taken = () => ({ cmd: 'NODE_CLUSTER', ack: given, accepted: true })
  worker.on('exit', () => given !== undefined && child.emit('internalMessage', taken()))
}

function signalAll(signal: NodeJS.Signals): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal)
}
