import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * The metrics of several processes that share a port (`WORKERS`). The first process collects and serves the metrics of all processes, each
 * with its label `worker`.
 */

/** The request of the first process. The response is the same message with the text. */
interface MetricsMessage {
  readonly topic: 'METRICS'
  readonly request: number
  readonly text?: string
}

/** Responds to requests of the first process. Called in all other processes. */
export function answerFirstProcess(read: () => Promise<string>): void {
  process.on('message', async (message) => {
    if (!isMetrics(message)) return
    // Metrics that cannot be read are omitted, as are those of a process that has ended.
    const text = await read().catch(() => '')
    if (process.connected) process.send?.({ ...message, text })
  })
}

/** Requests the metrics of every other process, and merges those that arrive within five seconds with `own`. */
export async function readWorkers(own: string): Promise<string> {
  const request = ++requests
  const workers = Object.values(cluster.workers ?? {}).filter((one) => one?.isConnected() === true)
  const texts: string[] = []
  const over = new AbortController()
  const answered = new Promise<void>((resolve) => {
    const receive = (_worker: unknown, message: unknown) => {
      if (!isMetrics(message) || message.request !== request) return
      texts.push(message.text ?? '')
      if (texts.length === workers.length) resolve()
    }
    cluster.on('message', receive)
    over.signal.addEventListener('abort', () => cluster.off('message', receive))
    if (workers.length === 0) resolve()
  })
  const message: MetricsMessage = { topic: 'METRICS', request }
  // A worker may just have ended. Without a callback its error would be an event, which ends this process.
  for (const worker of workers) worker?.send(message, () => {})
  const late = delay(timeoutMs, undefined, { signal: over.signal }).catch(() => {})
  await Promise.race([answered, late])
  over.abort()
  return mergeTexts([own, ...texts])
}

let requests = 0

/** Timeout for the other processes. Prometheus waits for ten seconds by default. */
const timeoutMs = 5_000

function isMetrics(message: unknown): message is MetricsMessage {
  return Object(message).topic === 'METRICS'
}

/** Merges several texts: the help and type of each metric come once, before the series of all texts. */
function mergeTexts(texts: readonly string[]): string {
  const series = new Map<string, string[]>()
  for (const family of texts.flatMap((text) => text.trim().split('\n\n'))) {
    const [help = '', type = '', ...lines] = family.split('\n')
    if (type === '') continue
    const known = series.get(`${help}\n${type}`) ?? []
    known.push(...lines)
    series.set(`${help}\n${type}`, known)
  }
  return `${[...series].map(([head, lines]) => [head, ...lines].join('\n')).join('\n\n')}\n`
}
