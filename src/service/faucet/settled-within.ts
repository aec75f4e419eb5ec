import { setTimeout as delay } from 'node:timers/promises'
import type { FaucetRequest } from './faucet-requests.ts'

/** Waits for the result of a faucet request; resolves to `undefined` if the request still waits after `seconds`. */
export async function settledWithin(
  { settled }: FaucetRequest,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Awaited<FaucetRequest['settled']> | undefined> {
  const over = new AbortController()
  const late = delay(seconds * 1_000, undefined, {
    signal: AbortSignal.any([signal, over.signal]),
  }).catch(() => undefined)
  const outcome = await Promise.race([settled, late])
  over.abort()
  return outcome
}
