import { setTimeout as delay } from 'node:timers/promises'
import { ask, type Standby, startStandby } from '../../support/standby.ts'
import { openSwitch, type Switch } from '../../support/switch.ts'
import { until } from '../../support/until.ts'

/** Two replicas that commits do not wait for. They follow whichever server is the primary, or are built anew where they cannot. */
export interface FollowingReplicas {
  /** Of ports that lead to the replicas, also to those that are built anew. */
  readonly urls: readonly [string, string]
  /** Past all proxies. */
  ownUrls(): readonly [string, string]
  /** Leads them to a primary, or to none. */
  lead(primaryUrl: string | undefined): void
  /** For each, whether it has replayed what a promoted server never did; such a one cannot follow that server. */
  areAheadOf(primaryUrl: string): Promise<readonly boolean[]>
  /** Waits until both have received so many bytes more than a server. */
  untilBeyond(url: string, bytes: number): Promise<void>
  /** Waits until a replica receives what a primary writes since it is one. */
  untilFollowing(index: number, primaryUrl: string): Promise<void>
  /** Puts a new replica in the place of one. */
  rebuild(index: number, primaryUrl: string): Promise<void>
  stop(): Promise<void>
}

/** Starts both. */
export async function startFollowingReplicas(primaryUrl: string): Promise<FollowingReplicas> {
  const upstream = await openSwitch(portOf(primaryUrl))
  const replicas: { readonly place: Switch; server: Standby }[] = []
  const stops = [upstream.close]
  for (let i = 0; i < 2; i++) {
    const place = await openSwitch(undefined)
    replicas.push({ place, server: await started(primaryUrl) })
    stops.push(place.close)
  }
  for (const { place, server } of replicas) place.leadTo(portOf(server.url))

  async function started(url: string): Promise<Standby> {
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
    replica.place.leadTo(undefined)
    await replica.server.crash()
    replica.server = await started(url)
    replica.place.leadTo(portOf(replica.server.url))
  }

  const pairOf = <T>(of: (one: (typeof replicas)[number] | undefined) => T) =>
    [of(replicas[0]), of(replicas[1])] as const
  const ownUrls = () => pairOf((one) => one?.server.url ?? '')

  return {
    urls: pairOf((one) => withPort(primaryUrl, one?.place.port ?? 0)),
    ownUrls,
    lead: (url) => upstream.leadTo(url === undefined ? undefined : portOf(url)),
    areAheadOf: async (url) => {
      // It stays what it was when the recovery ended.
      const there = await replayed(url)
      return await Promise.all(ownUrls().map(async (own) => (await replayedAll(own)) > there))
    },
    untilBeyond: async (url, bytes) => {
      const goal = (await received(url)) + BigInt(bytes)
      for (const own of ownUrls()) {
        await until(async () => (await received(own)) >= goal, { what: `${own} has ${goal}` })
      }
    },
    untilFollowing: async (index, url) => {
      const own = ownUrls()[index] ?? ''
      const isSame = async () => (await timelineReceived(own)) === (await timelineOf(url))
      await until(isSame, { what: `replica ${index} follows`, deadlineMs: 30_000 })
    },
    rebuild,
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

/** The newest slot that a server shows. */
export async function slotShown(url: string): Promise<number> {
  return Number(await ask(url, 'SELECT slot FROM published_tip'))
}

async function received(url: string): Promise<bigint> {
  return BigInt(await ask(url, "SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn"))
}

async function replayed(url: string): Promise<bigint> {
  return BigInt(await ask(url, "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn"))
}

/** What a replica that receives nothing comes to: half a record at the end of what it received is never replayed. */
async function replayedAll(url: string): Promise<bigint> {
  for (let former = -1n; ; ) {
    const now = await replayed(url)
    if (now === former) return now
    former = now
    await delay(500)
  }
}

/** The timeline that a replica receives now; nothing where it receives none. */
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
