import type { Hex } from '../../lib/hex.ts'
import type { GatewayContext } from './builder.ts'
import { indexId, protocolId } from './node-id.ts'

/** Loading of nodes by the ids inside their global ids. A loader returns `undefined` for a text that is not a valid id. */

type Load<I, T> = (context: GatewayContext, id: I) => Promise<T | undefined>

/** Returns a loader by an identifier of `bytes` bytes. */
export function byProtocolId<I extends Hex, T>(bytes: number, load: Load<I, T>) {
  return async (text: string, context: GatewayContext) => {
    const id = protocolId<I>(text, bytes)
    return id && (await load(context, id))
  }
}

/** Returns a loader by an unsigned integer of 32 bits. */
export function byIndex<T>(load: Load<number, T>) {
  return async (text: string, context: GatewayContext) => {
    const index = indexId(text)
    return index === undefined ? undefined : await load(context, index)
  }
}
