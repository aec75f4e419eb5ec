import { ok } from '../../lib/result.ts'
import { openLedgerSnapshot } from '../../service/network/ledger-snapshot.ts'
import { startDownload } from './download.ts'
import { about, text } from './form.ts'
import type { Parameter } from './parameters.ts'
import { route } from './route.ts'

/** A ledger snapshot as a stream. */

const from: Parameter<string | undefined> = {
  shape: about(
    'Where to continue: slot, part, last key and last check of the received lines, separated by colons.',
    text,
  ).shape,
  read: (given) => ok(given),
}

/** Streams a snapshot of the ledger. */
export const snapshotRoute = route({
  method: 'GET',
  path: '/api/gateway/v1/snapshot',
  // In addition to the size of the response: `fuzz-rest` measured 40 to 70 ms for a ledger of a thousand outputs, whose text is 350 units.
  cost: 2_000,
  about:
    'Returns the ledger at the end of the newest slot, for a gateway that starts from it: proofs, unspent outputs, accounts, ' +
    'and the end of the history of each address. An interrupted transfer can be continued with `from`.',
  query: { from },
  answers: {
    200: {
      about: 'JSON lines. Each line is an array of its check and its part.',
      texts: { 'application/x-ndjson': 'One JSON array per line.' },
      headers: {
        'cache-control': '`no-store`',
        'x-snapshot-slot': 'The slot of the snapshot.',
      },
    },
  },
  errors: [410, 501],
  answer: async ({ from }, services, request) => {
    const opened = await openLedgerSnapshot(services, from)
    if (!opened.ok) return opened
    const download = await startDownload(request.listen)
    if (!download.ok) return download
    const { slot, lines } = opened.value
    return ok({
      status: 200,
      headers: {
        'content-type': 'application/x-ndjson; charset=utf-8',
        'cache-control': 'no-store',
        'x-snapshot-slot': `${slot}`,
      },
      stream: { ...download.value, pieces: lines },
    })
  },
})
