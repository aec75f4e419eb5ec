import { readStatus, type Status } from '../network/read-status.ts'
import type { Services } from '../services.ts'
import { changes } from './follow-states.ts'

type Deps = Pick<Services, 'store' | 'source' | 'parameters' | 'clock' | 'feed'>

/** Yields the status now and after each milestone. */
export function followStatus(deps: Deps): AsyncIterableIterator<Status> {
  const { tail, tipValues } = deps.feed
  return changes({
    read: () => tipValues.read('status', () => readStatus(deps)),
    watch: tail.watchTip,
    isLast: () => false,
    // A read may already include the next milestone; its status is then emitted only once.
    key: ({ committed }) => committed.slot,
  })
}
