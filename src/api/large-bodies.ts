import type { IncomingMessage } from 'node:http'

/**
 * Large bodies of requests, of which a few of each client are read at a time. The others wait in the buffers of the system: read beside
 * each other, those of all its connections would be in memory, and each time the loop looks for new bytes it would take some from all.
 */

/** Shorter bodies come with their heads, or nearly so. */
const leastLarge = 65_536

const mostPerClient = 4

interface Room {
  taken: number
  readonly waiting: (() => void)[]
}

const rooms = new Map<string, Room>()

/** Reads the body of a request of a client, once there is room for it. */
export async function withRoom<T>(
  client: string,
  { headers }: IncomingMessage,
  read: () => Promise<T>,
): Promise<T> {
  const length = headers['content-length']
  if (Number(length ?? 0) < leastLarge) return await read()
  const room = rooms.get(client) ?? { taken: 0, waiting: [] }
  rooms.set(client, room)
  if (room.taken < mostPerClient) room.taken++
  else await new Promise<void>((resolve) => room.waiting.push(resolve))
  try {
    return await read()
  } finally {
    // The next one that waits has the place.
    const next = room.waiting.shift()
    if (next !== undefined) next()
    else if (--room.taken === 0) rooms.delete(client)
  }
}
