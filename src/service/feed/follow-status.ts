import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import { retryWhileAway } from '../../store/retry.ts'
import { readStatus, type Status } from '../network/read-status.ts'
import type { Services } from '../services.ts'

type Deps = Pick<Services, 'store' | 'source' | 'parameters' | 'clock' | 'feed'>

/** The status now, and at each milestone; a slow consumer gets the newest one and none of those before. */
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
      const look = () => tipValues.read('status', () => readStatus(deps))
      const status = await retryWhileAway(look, signal)
      // The database may be ahead of the tip that was noticed, and is then not read again for it.
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
