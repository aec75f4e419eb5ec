import type { IncomingMessage } from 'node:http'

/**
 * Limits how many large request bodies of a client are read at the same time. The others wait in the buffers of the operating
 * system. If the gateway read all of them at once, the bodies of all connections would be in memory, and each turn of the event
 * loop would read a piece of every one.
 */

/** Size from which a body is large, in bytes. Smaller bodies arrive together with their headers, or shortly after. */
const minLargeBytes = 65_536

/** Large bodies of one client that are read at the same time. */
const maxReadsPerClient = 4

interface Slots {
  used: number
  readonly waiting: (() => void)[]
}

const slotsByClient = new Map<string, Slots>()

/** Reads the body of a request as soon as the client has a free slot. */
export async function withRoom<T>(
  client: string,
  { headers }: IncomingMessage,
  read: () => Promise<T>,
): Promise<T> {
  const length = headers['content-length']
  if (Number(length ?? 0) < minLargeBytes) return await read()
  const slots = slotsByClient.get(client) ?? { used: 0, waiting: [] }
  slotsByClient.set(client, slots)
  if (slots.used < maxReadsPerClient) slots.used++
  else await new Promise<void>((resolve) => slots.waiting.push(resolve))
  try {
    return await read()
  } finally {
    // The slot passes to the next waiting read.
    const next = slots.waiting.shift()
    if (next !== undefined) next()
    else if (--slots.used === 0) slotsByClient.delete(client)
  }
}
