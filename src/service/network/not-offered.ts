import { err, ok, type Result } from '../../lib/result.ts'
import type { Services } from '../services.ts'

/** The node API has no route for this, so that upstream mode does not offer it. `what` names it in words. */
export interface NotOffered {
  readonly code: 'NOT_OFFERED_BY_NODES'
  readonly what: string
}

/** Refuses a list in upstream mode: a node serves blocks and transactions one by one, and what is kept of them is no list. */
export function listedHere(
  { node }: Pick<Services['source'], 'node'>,
  what: string,
): Result<undefined, NotOffered> {
  return node === undefined ? ok(undefined) : err({ code: 'NOT_OFFERED_BY_NODES', what })
}
