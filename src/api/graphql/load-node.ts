import type { Hex } from '../../lib/hex.ts'
import type { GatewayContext } from './builder.ts'
import { indexId, protocolId } from './node-id.ts'

/** How things are loaded by what their global ids say; `undefined` for a text that identifies nothing. */

type Load<I, T> = (context: GatewayContext, id: I) => Promise<T | undefined>

/** By an identifier of so many bytes. */
export function byProtocolId<I extends Hex, T>(bytes: number, load: Load<I, T>) {
  return async (text: string, context: GatewayContext) => {
    const id = protocolId<I>(text, bytes)
    return id && (await load(context, id))
  }
}

/** By a whole number of 32 bits. */
export function byIndex<T>(load: Load<number, T>) {
  return async (text: string, context: GatewayContext) => {
    const index = indexId(text)
    return index === undefined ? undefined : await load(context, index)
  }
}
