import type { NetworkMetrics } from '../../protocol/node-responses.ts'
import type { Services } from '../services.ts'

/** Block rates of the network (rest.md 4.1). */

/** Number of committed slots over which the rates are measured. */
const windowSlots = 10

/** Computes blocks per second over the newest committed slots, and the percentage of accepted blocks. */
export async function networkMetrics({
  store,
  parameters,
}: Pick<Services, 'store' | 'parameters'>): Promise<NetworkMetrics> {
  const { slot } = await store.read.latestMilestone()
  const from = Math.max(parameters.genesisSlot + 1, slot - windowSlots + 1)
  const seconds = (slot - from + 1) * parameters.slotDurationInSeconds
  if (seconds <= 0) return { blocksPerSecond: 0, confirmedBlocksPerSecond: 0, confirmationRate: 0 }
  const { all, accepted } = await store.read.countBlocks(from, slot)
  return {
    blocksPerSecond: all / seconds,
    confirmedBlocksPerSecond: accepted / seconds,
    confirmationRate: all === 0 ? 0 : (100 * accepted) / all,
  }
}
