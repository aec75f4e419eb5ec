import { ok } from '../../lib/result.ts'
import { addressKeyOf } from '../../service/addresses/address-key.ts'
import { addressText } from '../../service/addresses/address-text.ts'
import { defaultPageSize, maxPageSize } from '../../service/updates/list-ledger-updates.ts'
import { type PollRequest, pollLedgerUpdates } from '../../service/updates/poll-ledger-updates.ts'
import { parsePageSize } from '../../service/updates/update-position.ts'
import {
  about,
  bech32,
  count,
  flag,
  id,
  limited,
  listOf,
  object,
  text,
  uint32,
  word,
} from './form.ts'
import { malformed, type Parameter, seconds } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { route } from './route.ts'
import { isSpent, milestoneTimestamp } from './update-members.ts'

const cursor = limited({ pattern: '^[A-Za-z0-9_-]{36}$' }, text)
const hash = limited({ pattern: '^0x[0-9a-f]{64}$' }, text)

const page = jsonReply(
  'A page of updates; empty if none was found within the wait.',
  object({
    updates: listOf(
      object({
        cursor: about('Position of this update in the log.', cursor),
        ordinal: about('Position among the updates of this address and class.', count),
        address: bech32,
        class: word('OWNED', 'MENTIONED'),
        roles: listOf(text),
        outputId: id('OutputId'),
        isSpent,
        milestoneIndex: uint32,
        milestoneTimestamp,
        historyHash: about(
          'Hash of the history up to this update. Two histories of an address and class are equal if their hashes are.',
          hash,
        ),
      }),
      maxPageSize,
    ),
    previousCursor: about('Position where this page begins.', cursor),
    cursor: about(
      'Position where the next page begins. It advances also if the page is empty.',
      cursor,
    ),
    isFull: about(
      'Whether the page has as many updates as `limit`. A full page changes only if an older copy of the database was restored and then received other updates.',
      flag,
    ),
  }),
  {
    'cache-control':
      'A full page after a cursor may be cached, and must be revalidated by its entity tag before use. Other pages must not be cached.',
  },
)

type Addresses = PollRequest['addresses']

const address: Parameter<Addresses> = {
  shape: about(
    'Addresses of this network in Bech32, separated by commas. Without it, the updates of the whole ledger.',
    text,
  ).shape,
  read: (given, { argument, bech32Hrp }) => {
    if (given === undefined) return ok(undefined)
    const keys: Addresses & unknown[] = []
    for (const one of given.split(',')) {
      const key = addressKeyOf(bech32Hrp, one, argument)
      if (!key.ok) return key
      keys.push(key.value)
    }
    return ok(keys)
  },
}

const classes: Parameter<PollRequest['classes']> = {
  shape: limited(
    { default: 'OWNED' },
    about('Classes of updates: `OWNED`, `MENTIONED`, or both, separated by a comma.', text),
  ).shape,
  read: (given = 'OWNED', { name }) => {
    const names = given.split(',')
    return names.every(isClass) ? ok(names) : malformed(name, 'OWNED, MENTIONED or OWNED,MENTIONED')
  },
}

const limit: Parameter<number> = {
  shape: limited(
    { minimum: 1, maximum: maxPageSize, default: defaultPageSize },
    about('Maximum number of updates in the page.', count),
  ).shape,
  read: (given = String(defaultPageSize), { name }) => {
    const size = parsePageSize(given) ?? 0
    const isAllowed = size >= 1 && size <= maxPageSize
    return isAllowed ? ok(size) : malformed(name, `1 to ${maxPageSize}`)
  },
}

/** The feed as a long poll (docs/feed.md): returns a page after a cursor, or waits for its first update. */
export const feedUpdates = route({
  method: 'GET',
  path: '/feed/updates',
  about:
    'Returns the ledger updates after a cursor, in the order of the log. If there are none, it can wait for the first one.',
  query: {
    address,
    after: {
      shape: about('Cursor to start after. Without it, only updates committed from now on.', cursor)
        .shape,
      read: (given) => ok(given),
    } satisfies Parameter<string | undefined>,
    class: classes,
    limit,
    wait: seconds('Seconds to wait for the first update.'),
  },
  answers: { 200: page },
  errors: [410, 503],
  answer: async ({ address: addresses, after, class: classes, limit, wait }, services, request) => {
    const polled = await request.wait((signal) =>
      pollLedgerUpdates(services, {
        ...(addresses && { addresses }),
        ...(after !== undefined && { after }),
        classes,
        limit,
        waitMs: wait * 1_000,
        searchMs: Math.max(wait * 1_000, minSearchMs),
        signal,
      }),
    )
    if (!polled.ok) return polled
    if (!polled.value.ok) return polled.value
    const { bech32Hrp } = services.parameters
    const updates = polled.value.value.updates.map((update) => ({
      ...update,
      address: addressText(bech32Hrp, update.address),
    }))
    // Without a cursor, the response to the same request changes over time.
    const isKept = polled.value.value.isFull && after !== undefined
    const headers = { 'cache-control': isKept ? validatedByTag : 'no-store' }
    return ok(page.respond(request, { ...polled.value.value, updates }, { headers }))
  },
})

/** Milliseconds in which a request without a wait may search old updates of a rare class in the whole ledger. */
const minSearchMs = 5_000

/**
 * The URL of a page determines the history before the page, but not its rows: a restored older copy of the database may have
 * other rows there, and a cached page without revalidation would show the former history.
 */
const validatedByTag = 'public, no-cache'

function isClass(name: string): name is PollRequest['classes'][number] {
  return name === 'OWNED' || name === 'MENTIONED'
}
