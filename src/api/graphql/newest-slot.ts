import type { SlotIndex } from '../../protocol/primitives.ts'
import type { GatewayContext } from './builder.ts'

const pending = new WeakMap<GatewayContext, Promise<SlotIndex>>()

/** Reads the newest committed slot. Concurrent calls for one response share one read. */
export function newestSlot(context: GatewayContext): Promise<SlotIndex> {
  const known = pending.get(context)
  if (known !== undefined) return known
  const { read } = context.services.store
  const reading = read
    .logTip()
    .then(({ slot }) => slot)
    .finally(() => pending.delete(context))
  pending.set(context, reading)
  return reading
}
