import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import { retryWhileAway } from '../../store/retry.ts'
import { readStatus, type Status } from '../network/read-status.ts'
import type { Services } from '../services.ts'

type Deps = Pick<Services, 'store' | 'source' | 'parameters' | 'clock' | 'feed'>

/** Yields the status now and after each milestone. A slow consumer gets only the newest status. */
export function followStatus(deps: Deps): AsyncIterableIterator<Status> {
  return stoppable((signal) => statuses(deps, signal))
}

async function* statuses(deps: Deps, signal: AbortSignal): AsyncGenerator<Status, void, undefined> {
  const { tail, tipValues } = deps.feed
  const changed = createSignal()
  const stopWatching = tail.watchTip(changed.notify)
  let emitted: Status | undefined
  try {
    while (!signal.aborted) {
      const read = () => tipValues.read('status', () => readStatus(deps))
      const status = await retryWhileAway(read, signal)
      // A read may already include the next milestone; its status is then emitted only once.
      if (status !== undefined && status.committed.slot !== emitted?.committed.slot) {
        emitted = status
        yield status
      }
      await changed.wait({ signal })
    }
  } finally {
    stopWatching()
  }
}
