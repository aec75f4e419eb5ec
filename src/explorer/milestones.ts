import { computed, signal } from '@preact/signals'
import { gatewayTimeMs, type Tip } from './network.ts'

/** The milestones that pages show: all that were received, unless the user has paused the pages. */

interface Received {
  /** The latest milestones, newest first. */
  readonly milestones: readonly Tip[]
  /** Counter that increases when everything on a page may be out of date, after an interruption that was too long to replay. */
  readonly generation: number
}

/** What the gateway has sent. */
export const received = signal<Received>({ milestones: [], generation: 0 })

/** What pages showed when the user paused them, and the time of the gateway's clock; `undefined` while they follow the ledger. */
export const paused = signal<(Received & { readonly timeMs: number }) | undefined>(undefined)

const shown = computed(() => paused.value ?? received.value)

/** The latest milestones, newest first. */
export const milestones = computed(() => shown.value.milestones)

/** The counter of the received milestones, as far as pages show them. */
export const generation = computed(() => shown.value.generation)

/** Number of milestones that were committed since the user paused the pages. */
export const waitingCount = computed(() =>
  Math.max(0, newestIndex(received.value) - newestIndex(shown.value)),
)

function newestIndex({ milestones: [newest] }: Received): number {
  return newest?.index ?? 0
}

/** Keeps pages as they are now. */
export function pause(): void {
  paused.value = { ...received.peek(), timeMs: gatewayTimeMs() }
}

export function resume(): void {
  paused.value = undefined
}
