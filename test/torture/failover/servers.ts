import { openHaltingProxy } from '../../support/halting-proxy.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { type Standby, startStandby, waitForStandby } from '../../support/standby.ts'
import { openSwitch } from '../../support/switch.ts'

/** A primary with a standby, and the ways to them; the standby takes the place of the primary, and another one that of it. */
export interface Servers {
  /** Through a port that leads to the primary, and by the names of both servers. */
  readonly urls: readonly [string, string]
  /** Of ports of which one leads to the primary and the other to the standby. */
  readonly placeUrls: readonly [string, string]
  /** Of the primary, past all proxies. */
  primaryUrl(): string
  /** Of the standby, past all proxies. */
  standbyUrl(): string
  /** Ends what the primary sends to the standby, without a sign of it. */
  starve(): void
  /** Lets the standby have it again. */
  feed(): void
  /** The primary crashes under whatever it does, the standby takes its place, and the proxy leads there. */
  failOver(options?: FailOverOptions): Promise<void>
  /** Starts a standby of the new primary. */
  replace(): Promise<void>
  stop(): Promise<void>
}

/** What is done on the way. */
export interface FailOverOptions {
  /** Runs when the primary is dead and the standby is not promoted yet. */
  readonly beforePromotion?: () => Promise<void>
}

/** Starts both. */
export async function startServers(isSynchronous: boolean): Promise<Servers> {
  const first = await startPostgresql(settings)
  const stops: (() => Promise<void>)[] = [first.stop]
  let primary = { url: first.url, crash: () => first.halt('crash') }
  let standby: Standby
  let between: Awaited<ReturnType<typeof openHaltingProxy>>
  const proxy = await openSwitch(portOf(first.url))
  // The two places of servers in the URL that names both.
  const places = [await openSwitch(portOf(first.url)), await openSwitch(undefined)] as const
  let primaryPlace = 0
  stops.push(proxy.close, ...places.map((place) => place.close))
  await follow()

  async function follow(): Promise<void> {
    between = await openHaltingProxy(portOf(primary.url))
    standby = await startStandby(primary.url, { through: between.port, settings })
    stops.push(between.close, standby.stop)
    places[1 - primaryPlace]?.leadTo(portOf(standby.url))
    if (isSynchronous) await waitForStandby(primary.url)
  }

  async function failOver({ beforePromotion }: FailOverOptions = {}): Promise<void> {
    const { url, crash, promote } = standby
    await primary.crash()
    proxy.leadTo(undefined)
    places[primaryPlace]?.leadTo(undefined)
    await beforePromotion?.()
    await promote()
    primary = { url, crash }
    primaryPlace = 1 - primaryPlace
    proxy.leadTo(portOf(url))
  }

  const name = new URL(first.url).pathname
  const to = (hosts: string) => first.url.replace(/127\.0\.0\.1:\d+/, hosts)
  const both = places.map(({ port }) => `127.0.0.1:${port}`).join()
  return {
    urls: [
      to(`127.0.0.1:${proxy.port}`),
      `${to(both).replace(name, '')}${name}?target_session_attrs=read-write`,
    ],
    placeUrls: [to(`127.0.0.1:${places[0].port}`), to(`127.0.0.1:${places[1].port}`)],
    primaryUrl: () => primary.url,
    standbyUrl: () => standby.url,
    starve: () => between.halt(),
    feed: () => between.resume(),
    failOver,
    replace: follow,
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

/** A server that follows finds what it missed for a while. */
const settings = ['fsync=off', 'wal_keep_size=64MB']

function portOf(url: string): number {
  return Number(new URL(url).port)
}
