import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Watches gateways from outside: how long they take to answer, and how much memory they have. */

/** A watch on the answers of one gateway. */
export interface AnswerWatch {
  /** Ends it, and gives the longest answer of `/health/live` in milliseconds; what is not answered counts until now. */
  stop(): Promise<number>
}

/** Asks a gateway whether it is live, again and again. */
export function watchAnswers(url: string): AnswerWatch {
  let longest = 0
  let isOver = false
  let askedAt: number | undefined
  const finished = run()

  async function run(): Promise<void> {
    while (!isOver) {
      askedAt = performance.now()
      try {
        await (await fetch(`${url}/health/live`)).arrayBuffer()
        longest = Math.max(longest, performance.now() - askedAt)
      } catch {
        // It was killed.
      }
      askedAt = undefined
      await delay(pauseMs)
    }
  }

  return {
    stop: async () => {
      isOver = true
      if (askedAt !== undefined) longest = Math.max(longest, performance.now() - askedAt)
      await Promise.race([finished, delay(patienceMs)])
      return longest
    },
  }
}

const pauseMs = 10
const patienceMs = 1_000

/** The resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return Number(pages) * 4_096
}

/** The health of a gateway as it says it; `undefined` while it does not. */
export async function healthOf(
  url: string,
): Promise<{ readonly role: string; readonly reason?: string } | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(1_000) })
    return JSON.parse(await response.text())
  } catch {
    return undefined
  }
}
