import { setTimeout as delay } from 'node:timers/promises'
import { ask, type Standby, startStandby } from '../../support/standby.ts'
import { openSwitch, type Switch } from '../../support/switch.ts'
import { until } from '../../support/until.ts'

/** Two asynchronous replicas. They follow the current primary; a replica that cannot follow it is rebuilt. */
export interface FollowingReplicas {
  /** The URLs of ports that lead to the replicas, also after a rebuild. */
  readonly urls: readonly [string, string]
  /** The URLs of the replicas, without a proxy. */
  directUrls(): readonly [string, string]
  /** Makes them follow a primary, or none. */
  follow(primaryUrl: string | undefined): void
  /** For each replica, whether it has replayed more of the log than the promoted server. Such a replica cannot follow that server. */
  areAheadOf(primaryUrl: string): Promise<readonly boolean[]>
  /** Waits until both have received this many bytes more than a server. */
  untilBeyond(url: string, bytes: number): Promise<void>
  /** Waits until a replica receives the present timeline of a primary. */
  untilFollowing(index: number, primaryUrl: string): Promise<void>
  /** Replaces a replica by a new one. */
  rebuild(index: number, primaryUrl: string): Promise<void>
  stop(): Promise<void>
}

/** Starts both replicas. */
export async function startFollowingReplicas(primaryUrl: string): Promise<FollowingReplicas> {
  const upstream = await openSwitch(portOf(primaryUrl))
  const replicas: { readonly entry: Switch; server: Standby }[] = []
  const stops = [upstream.close]
  for (let i = 0; i < 2; i++) {
    const entry = await openSwitch(undefined)
    replicas.push({ entry, server: await startReplica(primaryUrl) })
    stops.push(entry.close)
  }
  for (const { entry, server } of replicas) entry.leadTo(portOf(server.url))

  async function startReplica(url: string): Promise<Standby> {
    const server = await startStandby(url, {
      through: upstream.port,
      name: 'replica',
      settings: ['fsync=off', 'wal_keep_size=64MB', 'wal_retrieve_retry_interval=200ms'],
    })
    stops.push(server.stop)
    return server
  }

  async function rebuild(index: number, url: string): Promise<void> {
    const replica = replicas[index]
    if (replica === undefined) return
    replica.entry.leadTo(undefined)
    await replica.server.crash()
    replica.server = await startReplica(url)
    replica.entry.leadTo(portOf(replica.server.url))
  }

  const pairOf = <T>(of: (one: (typeof replicas)[number] | undefined) => T) =>
    [of(replicas[0]), of(replicas[1])] as const
  const directUrls = () => pairOf((one) => one?.server.url ?? '')

  return {
    urls: pairOf((one) => withPort(primaryUrl, one?.entry.port ?? 0)),
    directUrls,
    follow: (url) => upstream.leadTo(url === undefined ? undefined : portOf(url)),
    areAheadOf: async (url) => {
      // A promoted server keeps the position at which its recovery ended.
      const promotedAt = await replayed(url)
      return await Promise.all(
        directUrls().map(async (own) => (await replayedAll(own)) > promotedAt),
      )
    },
    untilBeyond: async (url, bytes) => {
      const goal = (await received(url)) + BigInt(bytes)
      for (const own of directUrls()) {
        await until(async () => (await received(own)) >= goal, {
          what: `${own} has received ${goal}`,
        })
      }
    },
    untilFollowing: async (index, url) => {
      const own = directUrls()[index] ?? ''
      const isSame = async () => (await timelineReceived(own)) === (await timelineOf(url))
      await until(isSame, { what: `replica ${index} follows`, deadlineMs: 30_000 })
    },
    rebuild,
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

/** Reads the newest published slot of a server. */
export async function publishedSlot(url: string): Promise<number> {
  return Number(await ask(url, 'SELECT slot FROM published_tip'))
}

async function received(url: string): Promise<bigint> {
  return BigInt(await ask(url, "SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn"))
}

async function replayed(url: string): Promise<bigint> {
  return BigInt(await ask(url, "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn"))
}

/** Returns the last position of a replica that receives nothing. It may not replay all: the received bytes may end within a record. */
async function replayedAll(url: string): Promise<bigint> {
  for (let former = -1n; ; ) {
    const now = await replayed(url)
    if (now === former) return now
    former = now
    await delay(500)
  }
}

/** Returns the timeline that a replica receives now; an empty text if it receives none. */
async function timelineReceived(url: string): Promise<string> {
  return await ask(
    url,
    "SELECT max(received_tli) FROM pg_stat_wal_receiver WHERE status = 'streaming'",
  )
}

async function timelineOf(primaryUrl: string): Promise<string> {
  const file = await ask(primaryUrl, 'SELECT pg_walfile_name(pg_current_wal_insert_lsn())')
  return String(Number.parseInt(file.slice(0, 8), 16))
}

function withPort(url: string, port: number): string {
  return Object.assign(new URL(url), { port }).href
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
