import type { NetworkMetrics } from '../../protocol/node-answers.ts'
import type { StoreReader } from '../../store/contract.ts'

/** How busy the network is (rest.md 4.1). */

/** What measuring needs. */
export interface NetworkMetricsDeps {
  readonly store: { readonly read: Pick<StoreReader, 'countBlocks' | 'latestMilestone'> }
  readonly parameters: { readonly genesisSlot: number; readonly slotDurationInSeconds: number }
}

/** Committed slots over which is measured. */
const windowSlots = 10

/** Blocks of the newest committed slots by time, and how many of them were accepted. */
export async function networkMetrics({
  store,
  parameters,
}: NetworkMetricsDeps): Promise<NetworkMetrics> {
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
