import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { blockOf, isFresh, type Offer, offerOf, taggedData } from '../../support/wallet.ts'

/** A client that requests each block immediately from the gateway that acknowledged it. */
export interface OwnWrites {
  readonly counts: {
    /** The number of acknowledged blocks that the gateway returned. */
    found: number
    /** The number of requests that got status 503 or no response and were repeated. */
    unanswered: number
  }
  /** The acknowledged blocks that the gateway did not return. */
  readonly faults: readonly string[]
  stop(): Promise<void>
}

/** Starts the client. The caller may add URLs while it runs. */
export function startOwnWrites(urls: readonly string[], random: Random): OwnWrites {
  const counts = { found: 0, unanswered: 0 }
  const faults: string[] = []
  let isStopped = false
  const running = run()

  async function run(): Promise<void> {
    let offer: Offer | undefined
    for (let tries = 1; !isStopped; tries++) {
      const url = urls[random.between(0, urls.length - 1)] ?? ''
      if (tries % 10 === 0 || (offer !== undefined && !isFresh(offer))) offer = undefined
      try {
        offer ??= await offerOf(url)
        await writeAndRead(url, offer, tries)
      } catch {
        // The connection was lost.
        offer = undefined
      }
      await delay(random.between(0, 50))
    }
  }

  async function writeAndRead(url: string, offer: Offer, serial: number): Promise<void> {
    const data = `0x${serial.toString(16).padStart(8, '0')}` as const
    const { bytes, blockId } = blockOf(offer, taggedData('0x6f776e', data))
    const sent = await fetch(`${url}/api/core/v3/blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.iota.serializer-v2' },
      body: bytes,
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    if (sent.status !== 201) return
    while (!isStopped) {
      const status = await statusOf(`${url}/api/core/v3/blocks/${blockId}/metadata`)
      if (status === 200) counts.found++
      else if (status === 503 || status === 0) {
        counts.unanswered++
        continue
      } else faults.push(`${url} acknowledged ${blockId} and then returned status ${status}`)
      return
    }
  }

  return {
    counts,
    faults,
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, { signal: AbortSignal.timeout(requestTimeoutMs) }).catch(
    () => undefined,
  )
  await response?.arrayBuffer()
  return response?.status ?? 0
}

const requestTimeoutMs = 10_000
