import { ok, type Result } from '../../lib/result.ts'
import type { LimitError } from '../errors/api-errors.ts'
import type { RestRequest } from './request.ts'
import type { StreamedBody } from './response.ts'

/** Counts a download as a subscription until `over` is called. The signal fires when the download must end. */
export async function startDownload(
  listen: RestRequest['listen'],
): Promise<Result<Omit<StreamedBody, 'pieces'>, LimitError>> {
  const { promise: ended, resolve: over } = Promise.withResolvers<void>()
  return new Promise((resolve) => {
    const listening = listen(async (signal) => {
      resolve(ok({ signal, over }))
      await ended
    })
    void listening.then((refused) =>
      resolve(refused.ok ? ok({ signal: AbortSignal.abort(), over }) : refused),
    )
  })
}
