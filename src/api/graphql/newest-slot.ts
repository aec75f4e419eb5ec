import type { SlotIndex } from '../../protocol/primitives.ts'
import type { GatewayContext } from './builder.ts'

const underWay = new WeakMap<GatewayContext, Promise<SlotIndex>>()

/** The newest committed slot; everything that an answer asks for at the same time shares one read. */
export function newestSlot(context: GatewayContext): Promise<SlotIndex> {
  const known = underWay.get(context)
  if (known !== undefined) return known
  const { read } = context.services.store
  const reading = read
    .logTip()
    .then(({ slot }) => slot)
    .finally(() => underWay.delete(context))
  underWay.set(context, reading)
  return reading
}
