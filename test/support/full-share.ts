import { createClientShares, type Share } from '../../src/api/clients/client-shares.ts'
import { defaultLimits } from '../../src/api/limits.ts'

/** The share of a client that has used nothing of it. */
export function fullShare(): Share {
  return createClientShares(defaultLimits.client).of('test')
}
