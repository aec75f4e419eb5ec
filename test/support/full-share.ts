import { createClientShares, type Share } from '../../src/api/client-shares.ts'
import { defaultLimits } from '../../src/api/limits.ts'

/** A share of which nothing is spent. */
export function fullShare(): Share {
  return createClientShares(defaultLimits.client).of('test')
}
