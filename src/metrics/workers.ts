import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'

/** The metrics of several processes behind one port (`WORKERS`): the first process asks the others and serves all, each with its label `worker`. */

/** What the first process sends, and gets back with the text. */
interface MetricsMessage {
  readonly topic: 'METRICS'
  readonly request: number
  readonly text?: string
}

/** Answers the first process, from one of the others. */
export function answerFirstProcess(read: () => Promise<string>): void {
  process.on('message', async (message) => {
    if (!isMetrics(message)) return
    // What cannot be read is left out, as of a process that has ended.
    const text = await read().catch(() => '')
    if (process.connected) process.send?.({ ...message, text })
  })
}

/** Asks every other process, and gives one text with what those answer in time. */
export async function readWorkers(own: string): Promise<string> {
  const request = ++requests
  const workers = Object.values(cluster.workers ?? {}).filter((one) => one?.isConnected() === true)
  const texts: string[] = []
  const over = new AbortController()
  const answered = new Promise<void>((resolve) => {
    const hear = (_worker: unknown, message: unknown) => {
      if (!isMetrics(message) || message.request !== request) return
      texts.push(message.text ?? '')
      if (texts.length === workers.length) resolve()
    }
    cluster.on('message', hear)
    over.signal.addEventListener('abort', () => cluster.off('message', hear))
    if (workers.length === 0) resolve()
  })
  for (const worker of workers) worker?.send({ topic: 'METRICS', request } satisfies MetricsMessage)
  const late = delay(longestMs, undefined, { signal: over.signal }).catch(() => {})
  await Promise.race([answered, late])
  over.abort()
  return mergeTexts([own, ...texts])
}

let requests = 0

/** Prometheus waits for ten seconds by default. */
const longestMs = 5_000

function isMetrics(message: unknown): message is MetricsMessage {
  return Object(message).topic === 'METRICS'
}

/** One text of several: what is said of a metric is said once, before the series of all. */
export function mergeTexts(texts: readonly string[]): string {
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
