import { type HaltingProxy, openHaltingProxy } from '../../support/halting-proxy.ts'
import { startPostgresql } from '../../support/postgresql-server.ts'
import { type Standby, startStandby } from '../../support/standby.ts'
import { openSwitch } from '../../support/switch.ts'

/** A primary with a replica that meets one trouble after the other, and one that is always two seconds late. */
export interface ReplicaServers {
  readonly primaryUrl: string
  /** Leads to whichever server is in the place of the first replica. */
  readonly troubledUrl: string
  readonly lateUrl: string
  /** Nothing passes any more to and from the first replica, and no connection ends. */
  pause(): void
  resume(): void
  /** The first replica crashes. */
  crash(): Promise<void>
  /** The first replica follows no primary any more. */
  promote(): Promise<void>
  /** Puts a new replica in the place of the first. */
  replace(): Promise<void>
  stop(): Promise<void>
}

/** Starts all three. */
export async function startReplicaServers(): Promise<ReplicaServers> {
  const primary = await startPostgresql()
  const stops: (() => Promise<void>)[] = [primary.stop]
  const place = await openSwitch(undefined)
  stops.push(place.close)
  const late = await startStandby(primary.url, {
    settings: ['fsync=off', 'recovery_min_apply_delay=2s'],
  })
  stops.push(late.stop)
  let replica: Standby
  let between: HaltingProxy
  await replace()

  async function replace(): Promise<void> {
    replica = await startStandby(primary.url, { settings: ['fsync=off'] })
    between = await openHaltingProxy(Number(new URL(replica.url).port))
    stops.push(replica.stop, between.close)
    place.leadTo(between.port)
  }

  const troubled = new URL(primary.url)
  troubled.port = `${place.port}`
  return {
    primaryUrl: primary.url,
    troubledUrl: troubled.href,
    lateUrl: late.url,
    pause: () => between.halt(),
    resume: () => between.resume(),
    crash: () => replica.crash(),
    promote: () => replica.promote(),
    replace,
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}
