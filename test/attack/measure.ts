import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { CrowdSample } from './crowd.ts'
import type { AttackedGateway, Held } from './gateway.ts'
import { type Attacked, runAttack } from './run-attack.ts'
import type { Attack } from './target.ts'

/** Measures what 50 well-behaved clients notice of an attack, what the process holds, and what it gives back. */

/** The measures of one attack. */
export interface Measured extends Attacked {
  readonly name: string
  readonly peace: CrowdSample
  readonly war: CrowdSample
  readonly before: Held
  /** The most at any moment. */
  readonly most: Held
  /** How long after the attack its descriptors were closed; `undefined` where they were not within ten seconds. */
  readonly givenBackMs: number | undefined
  /** How long after the attack the clients were answered as before; `undefined` where not within ten seconds. */
  readonly calmMs: number | undefined
}

/** The well-behaved clients. */
export interface Crowd {
  /** What they measured since they were last asked. */
  sample(): Promise<CrowdSample>
  end(): void
}

/** Starts them. */
export async function startCrowd(url: string): Promise<Crowd> {
  const child = fork(new URL('./crowd.ts', import.meta.url), [url])
  await once(child, 'message')
  return {
    sample: async () => {
      const answer = once(child, 'message')
      child.send('sample')
      const [sample]: CrowdSample[] = (await answer) as [CrowdSample]
      if (sample === undefined) throw new Error('the crowd is gone')
      return sample
    },
    end: () => child.kill(),
  }
}

/** More descriptors than before belong to clients that come and go. */
const slack = 20

/** Measures one attack of some seconds, after as long a peace. */
export async function measure(
  { gateway, crowd }: { readonly gateway: AttackedGateway; readonly crowd: Crowd },
  attack: Attack,
  seconds: number,
): Promise<Measured> {
  await crowd.sample()
  await delay(seconds * 1_000)
  const peace = await crowd.sample()
  const before = gateway.holds()
  let most = before
  const watch = setInterval(() => {
    if (!gateway.isAlive()) return
    const { residentMb, descriptors } = gateway.holds()
    most = {
      residentMb: Math.max(most.residentMb, residentMb),
      descriptors: Math.max(most.descriptors, descriptors),
    }
  }, 100)
  // Attackers would have machines of their own too: here they must not take the processors that the gateway needs.
  prefer(lowest)
  const attacked = await runAttack(gateway, attack, { scale: 1, milliseconds: seconds * 1_000 })
  const war = await crowd.sample()
  prefer(usual)
  clearInterval(watch)
  const givenBackMs = await giveBack(gateway, before)
  const calmMs = await calm(crowd, peace)
  return { ...attacked, name: attack.name, peace, war, before, most, givenBackMs, calmMs }
}

const [usual, lowest] = [0, 19]

/** Gives this process a priority. */
function prefer(priority: number): void {
  try {
    setPriority(priority)
  } catch {
    // Only the administrator may raise it again: it stays low, which does the clients no harm.
  }
}

async function giveBack(gateway: AttackedGateway, before: Held): Promise<number | undefined> {
  const begun = performance.now()
  while (gateway.isAlive() && performance.now() - begun < 10_000) {
    if (gateway.holds().descriptors <= before.descriptors + slack) return performance.now() - begun
    await delay(100)
  }
  return undefined
}

/** Looks at the clients of each second until they are answered as in peace. */
async function calm(crowd: Crowd, peace: CrowdSample): Promise<number | undefined> {
  const begun = performance.now()
  while (performance.now() - begun < 10_000) {
    await crowd.sample()
    await delay(1_000)
    const { p99Ms, answered, failed } = await crowd.sample()
    if (answered > 0 && failed === 0 && p99Ms < 3 * peace.p99Ms) return performance.now() - begun
  }
  return undefined
}

/** What the issue of an attack must not be. */
export function failings(measured: Measured): readonly string[] {
  const { peace, war, before, most, givenBackMs, calmMs, faults } = measured
  const ratio = war.p99Ms / peace.p99Ms
  return [
    ...faults,
    ...(ratio > 5 ? [`p99 ${ratio.toFixed(1)} times that of peace`] : []),
    ...(war.failed > 0 ? [`${war.failed} requests of others failed`] : []),
    ...(most.residentMb > 2 * before.residentMb ? [`${most.residentMb} MB resident`] : []),
    ...(calmMs === undefined ? ['others still wait after ten seconds'] : []),
    ...(givenBackMs === undefined ? ['descriptors are not given back within ten seconds'] : []),
  ]
}
