import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { AttackedGateway, Resources } from './gateway.ts'
import type { LatencySample } from './other-clients.ts'
import { type AttackResult, runAttack } from './run-attack.ts'
import type { Attack } from './target.ts'

/** Measures the latency of 50 other clients during an attack, and the memory and descriptors of the process. */

/** The measurements of one attack. */
export interface Measured extends AttackResult {
  readonly name: string
  /** The latency before the attack. */
  readonly quiet: LatencySample
  /** The latency during the attack. */
  readonly attacked: LatencySample
  /** The resources before the attack. */
  readonly before: Resources
  /** The maximum of each resource during the attack. */
  readonly max: Resources
  /** The time after the attack until its descriptors were closed; `undefined` if they were not within ten seconds. */
  readonly closedMs: number | undefined
  /** The time after the attack until the latency was as before; `undefined` if it was not within ten seconds. */
  readonly recoveredMs: number | undefined
}

/** The other clients, in a process of their own. */
export interface OtherClients {
  /** Returns their measurements since the last call. */
  sample(): Promise<LatencySample>
  end(): void
}

/** Starts the other clients. */
export async function startOtherClients(url: string): Promise<OtherClients> {
  const child = fork(new URL('./other-clients.ts', import.meta.url), [url])
  await once(child, 'message')
  return {
    sample: async () => {
      const message = once(child, 'message')
      child.send('sample')
      const [sample]: LatencySample[] = (await message) as [LatencySample]
      if (sample === undefined) throw new Error('the process of the other clients has exited')
      return sample
    },
    end: () => child.kill(),
  }
}

/** Descriptors above the number before the attack; the other clients open and close connections. */
const slack = 20

/** Measures the same number of seconds before an attack and during it. */
export async function measure(
  { gateway, clients }: { readonly gateway: AttackedGateway; readonly clients: OtherClients },
  attack: Attack,
  seconds: number,
): Promise<Measured> {
  await clients.sample()
  await delay(seconds * 1_000)
  const quiet = await clients.sample()
  const before = gateway.resources()
  let max = before
  const watch = setInterval(() => {
    if (!gateway.isAlive()) return
    const { residentMb, descriptors } = gateway.resources()
    max = {
      residentMb: Math.max(max.residentMb, residentMb),
      descriptors: Math.max(max.descriptors, descriptors),
    }
  }, 100)
  // An attacker would have a machine of its own. Here it must not use the processors that the gateway needs.
  setOwnPriority(lowest)
  const result = await runAttack(gateway, attack, { scale: 1, milliseconds: seconds * 1_000 })
  const attacked = await clients.sample()
  setOwnPriority(normal)
  clearInterval(watch)
  const closedMs = await untilClosed(gateway, before)
  const recoveredMs = await untilRecovered(clients, quiet)
  return { ...result, name: attack.name, quiet, attacked, before, max, closedMs, recoveredMs }
}

const [normal, lowest] = [0, 19]

/** Sets the priority of all threads of this process. On Linux each has its own: V8's, which collect garbage, and libuv's, which compress. */
function setOwnPriority(priority: number): void {
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), priority)
    } catch {
      // The thread has ended. Or only the administrator may raise it again: a low priority does not affect the other clients.
    }
  }
}

/** Measures the time until the descriptors of an attack are closed. */
async function untilClosed(
  gateway: AttackedGateway,
  before: Resources,
): Promise<number | undefined> {
  const start = performance.now()
  while (gateway.isAlive() && performance.now() - start < 10_000) {
    if (gateway.resources().descriptors <= before.descriptors + slack)
      return performance.now() - start
    await delay(100)
  }
  return undefined
}

/** Measures the time until the latency of one second is again less than three times the one before the attack. */
async function untilRecovered(
  clients: OtherClients,
  quiet: LatencySample,
): Promise<number | undefined> {
  const start = performance.now()
  while (performance.now() - start < 10_000) {
    await clients.sample()
    await delay(1_000)
    const { p99Ms, answered, failed } = await clients.sample()
    if (answered > 0 && failed === 0 && p99Ms < 3 * quiet.p99Ms) return performance.now() - start
  }
  return undefined
}

/** Returns the reasons for which an attack counts as failed. */
export function failuresOf(measured: Measured): readonly string[] {
  const { quiet, attacked, before, max, closedMs, recoveredMs, faults } = measured
  const ratio = attacked.p99Ms / quiet.p99Ms
  return [
    ...faults,
    ...(ratio > 5 ? [`p99 is ${ratio.toFixed(1)} times the one before the attack`] : []),
    ...(attacked.failed > 0 ? [`${attacked.failed} requests of other clients failed`] : []),
    ...(max.residentMb > 2 * before.residentMb ? [`${max.residentMb} MB resident`] : []),
    ...(recoveredMs === undefined ? ['other clients still wait after ten seconds'] : []),
    ...(closedMs === undefined ? ['descriptors are not closed within ten seconds'] : []),
  ]
}
