import type { SlotIndex } from '../../protocol/primitives.ts'
import { nsPerSecond, slotEnd } from '../../protocol/slots.ts'
import type { Services } from '../services.ts'

/** Status of the ledger, for a home page. */

/** A slot and its end in Unix seconds. */
export interface SlotTime {
  readonly slot: SlotIndex
  readonly end: number
}

/** Status of the ledger. All counts are as of the newest committed slot. */
export interface Status {
  readonly committed: SlotTime
  readonly finalized: SlotTime
  /** The current slot by the clock. */
  readonly current: SlotTime
  /** Seconds since the end of the newest committed slot. */
  readonly lagSeconds: number
  /** Average over the newest minute of committed slots; `undefined` if the node does not report blocks. */
  readonly blocksPerSecond: number | undefined
  readonly transactionsPerSecond: number
  readonly baseTokenSupply: bigint
  readonly addresses: number
  readonly unspentOutputs: number
  readonly accounts: number
  readonly role: 'WRITER' | 'STANDBY'
  readonly mode: 'EMBEDDED' | 'UPSTREAM'
}

/** Reads the status from counters, so that the cost does not grow with the ledger. */
export async function readStatus({
  store,
  source,
  parameters,
  clock,
}: Pick<Services, 'store' | 'source' | 'parameters' | 'clock'>): Promise<Status> {
  const { slotDurationInSeconds, tokenSupply } = parameters
  const counters = await store.read.ledgerCounters(Math.ceil(60 / slotDurationInSeconds))
  const { slot: currentSlot, role } = source.status()
  const { recent, slot, addresses, outputs: unspentOutputs, accounts } = counters
  const seconds = Math.max(1, recent.slots * slotDurationInSeconds)
  const committed = { slot, end: slotEnd(parameters, slot) }
  const now = Number(clock.nowNs() / nsPerSecond)
  return {
    committed,
    // This gateway never undoes a committed slot, so it is final.
    finalized: committed,
    current: { slot: currentSlot, end: slotEnd(parameters, currentSlot) },
    lagSeconds: Math.max(0, now - committed.end),
    blocksPerSecond: recent.blocks === undefined ? undefined : recent.blocks / seconds,
    transactionsPerSecond: recent.accepted / seconds,
    baseTokenSupply: tokenSupply,
    addresses,
    unspentOutputs,
    accounts,
    role,
    mode: source.node === undefined ? 'EMBEDDED' : 'UPSTREAM',
  }
}
