import { openHaltingProxy } from '../../support/halting-proxy.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { type Standby, startStandby, waitForStandby } from '../../support/standby.ts'
import { openSwitch } from '../../support/switch.ts'

/** A primary with a standby, and proxies of them. After a failover the standby is the primary, and `replace` starts a new standby. */
export interface Servers {
  /** One URL with a port that leads to the primary, and one that lists both servers. */
  readonly urls: readonly [string, string]
  /** The URLs of two ports; one leads to the primary, and the other to the standby. */
  readonly memberUrls: readonly [string, string]
  /** The URL of the primary, without a proxy. */
  primaryUrl(): string
  /** The URL of the standby, without a proxy. */
  standbyUrl(): string
  /** Stops replication to the standby without closing its connection. */
  pauseReplication(): void
  /** Resumes replication to the standby. */
  resumeReplication(): void
  /** Crashes the primary, promotes the standby, and makes the proxy lead to it. */
  failOver(options?: FailOverOptions): Promise<void>
  /** Starts a new standby of the new primary. */
  replace(): Promise<void>
  stop(): Promise<void>
}

/** An action during a failover. */
export interface FailOverOptions {
  /** Runs after the crash of the primary and before the promotion of the standby. */
  readonly beforePromotion?: () => Promise<void>
}

/** Starts both servers. */
export async function startServers(isSynchronous: boolean): Promise<Servers> {
  const first = await startPostgresql(settings)
  const stops: (() => Promise<void>)[] = [first.stop]
  let primary = { url: first.url, crash: () => first.halt('crash') }
  let standby: Standby
  let replication: Awaited<ReturnType<typeof openHaltingProxy>>
  const proxy = await openSwitch(portOf(first.url))
  // The ports of the URL that lists both servers.
  const members = [await openSwitch(portOf(first.url)), await openSwitch(undefined)] as const
  let primaryIndex = 0
  stops.push(proxy.close, ...members.map((member) => member.close))
  await startNewStandby()

  async function startNewStandby(): Promise<void> {
    replication = await openHaltingProxy(portOf(primary.url))
    standby = await startStandby(primary.url, { through: replication.port, settings })
    stops.push(replication.close, standby.stop)
    members[1 - primaryIndex]?.leadTo(portOf(standby.url))
    if (isSynchronous) await waitForStandby(primary.url)
  }

  async function failOver({ beforePromotion }: FailOverOptions = {}): Promise<void> {
    const { url, crash, promote } = standby
    await primary.crash()
    proxy.leadTo(undefined)
    members[primaryIndex]?.leadTo(undefined)
    await beforePromotion?.()
    await promote()
    primary = { url, crash }
    primaryIndex = 1 - primaryIndex
    proxy.leadTo(portOf(url))
  }

  const name = new URL(first.url).pathname
  const to = (hosts: string) => first.url.replace(/127\.0\.0\.1:\d+/, hosts)
  const both = members.map(({ port }) => `127.0.0.1:${port}`).join()
  return {
    urls: [
      to(`127.0.0.1:${proxy.port}`),
      `${to(both).replace(name, '')}${name}?target_session_attrs=read-write`,
    ],
    memberUrls: [to(`127.0.0.1:${members[0].port}`), to(`127.0.0.1:${members[1].port}`)],
    primaryUrl: () => primary.url,
    standbyUrl: () => standby.url,
    pauseReplication: () => replication.halt(),
    resumeReplication: () => replication.resume(),
    failOver,
    replace: startNewStandby,
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

/** The primary keeps 64 MB of its log for a standby that was disconnected. */
const settings = ['fsync=off', 'wal_keep_size=64MB']

function portOf(url: string): number {
  return Number(new URL(url).port)
}
