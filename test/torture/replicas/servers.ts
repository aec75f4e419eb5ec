import { type HaltingProxy, openHaltingProxy } from '../../support/halting-proxy.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { type Standby, startStandby } from '../../support/standby.ts'
import { openSwitch } from '../../support/switch.ts'

/** A primary with two replicas: the first one fails repeatedly, and the second one is always two seconds late. */
export interface ReplicaServers {
  readonly primaryUrl: string
  /** Leads to the current first replica. */
  readonly firstUrl: string
  readonly lateUrl: string
  /** Stops all traffic from and to the first replica, without closing a connection. */
  pause(): void
  resume(): void
  /** Crashes the first replica. */
  crash(): Promise<void>
  /** Promotes the first replica, which then follows no primary. */
  promote(): Promise<void>
  /** Replaces the first replica by a new one. */
  replace(): Promise<void>
  stop(): Promise<void>
}

/** Starts the three servers. */
export async function startReplicaServers(): Promise<ReplicaServers> {
  const primary = await startPostgresql()
  const stops: (() => Promise<void>)[] = [primary.stop]
  const firstSwitch = await openSwitch(undefined)
  stops.push(firstSwitch.close)
  const late = await startStandby(primary.url, {
    settings: ['fsync=off', 'recovery_min_apply_delay=2s'],
  })
  stops.push(late.stop)
  let replica: Standby
  let proxy: HaltingProxy
  await replace()

  async function replace(): Promise<void> {
    replica = await startStandby(primary.url, { settings: ['fsync=off'] })
    proxy = await openHaltingProxy(Number(new URL(replica.url).port))
    stops.push(replica.stop, proxy.close)
    firstSwitch.leadTo(proxy.port)
  }

  const first = new URL(primary.url)
  first.port = `${firstSwitch.port}`
  return {
    primaryUrl: primary.url,
    firstUrl: first.href,
    lateUrl: late.url,
    pause: () => proxy.halt(),
    resume: () => proxy.resume(),
    crash: () => replica.crash(),
    promote: () => replica.promote(),
    replace,
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}
