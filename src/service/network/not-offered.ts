import { err, ok, type Result } from '../../lib/result.ts'
import type { Services } from '../services.ts'

/** Upstream mode does not offer the data, because the node API has no route for it. `what` names the data in the message. */
export interface NotOffered {
  readonly code: 'NOT_OFFERED_BY_NODES'
  readonly what: string
}

/** Refuses a list in upstream mode: a node serves blocks and transactions only one by one, and the gateway stores only some of them. */
export function checkOffered(
  { node }: Pick<Services['source'], 'node'>,
  what: string,
): Result<undefined, NotOffered> {
  return node === undefined ? ok(undefined) : err({ code: 'NOT_OFFERED_BY_NODES', what })
}
