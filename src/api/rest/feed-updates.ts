import { ok } from '../../lib/result.ts'
import { addressKeyOf } from '../../service/addresses/address-key.ts'
import { addressText } from '../../service/addresses/address-text.ts'
import { defaultPageSize, maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { type PollQuestion, pollLedgerUpdates } from '../../service/updates/poll-ledger-updates.ts'
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

const cursor = limited({ pattern: '^[A-Za-z0-9_-]{36}$' }, text)
const hash = limited({ pattern: '^0x[0-9a-f]{64}$' }, text)

const page = jsonReply(
  'A page, empty where nothing came.',
  object({
    updates: listOf(
      object({
        cursor: about('The position of this update.', cursor),
        ordinal: about('The position among the updates of this address and class.', count),
        address: bech32,
        class: word('OWNED', 'MENTIONED'),
        roles: listOf(text),
        outputId: id('OutputId'),
        isSpent: about('Whether this spent the output, or created it.', flag),
        milestoneIndex: uint32,
        milestoneTimestamp: about('The end of the milestone in Unix seconds.', count),
        historyHash: about('Two histories of an address and class are equal where this is.', hash),
      }),
      maximumPageSize,
    ),
    previousCursor: about('Where this page begins.', cursor),
    cursor: about('Where the next one does.', cursor),
    isFull: about(
      'Whether there are as many updates as the limit; such a page changes only where an older copy of the database went on differently.',
      flag,
    ),
  }),
  {
    'cache-control':
      'A full page may be kept, and is validated by its tag before it is used; any other is not kept.',
  },
)

type Addresses = PollQuestion['addresses']

const address: Parameter<Addresses> = {
  shape: about(
    'Bech32 texts of this network, with commas between; left out: the whole ledger.',
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

const classes: Parameter<PollQuestion['classes']> = {
  shape: limited(
    { default: 'OWNED' },
    about('Why the updates are filed under the addresses; with a comma between both.', text),
  ).shape,
  read: (given = 'OWNED', { name }) => {
    const names = given.split(',')
    return names.every(isClass) ? ok(names) : malformed(name, 'OWNED, MENTIONED or both')
  },
}

const limit: Parameter<number> = {
  shape: limited(
    { minimum: 1, maximum: maximumPageSize, default: defaultPageSize },
    about('The most updates of the page.', count),
  ).shape,
  read: (given = String(defaultPageSize), { name }) => {
    const size = parsePageSize(given) ?? 0
    const isAllowed = size >= 1 && size <= maximumPageSize
    return isAllowed ? ok(size) : malformed(name, `1 to ${maximumPageSize}`)
  },
}

/** The feed for clients without a lasting connection (docs/feed.md): a page after a cursor, or a wait for its first update. */
export const feedUpdates = route({
  method: 'GET',
  path: '/feed/updates',
  about:
    'The updates after a cursor, in the order of the log; where there is none, the first that comes while the client waits.',
  query: {
    address,
    after: {
      shape: about('A cursor; left out: only what is committed from now on.', cursor).shape,
      read: (given) => ok(given),
    } satisfies Parameter<string | undefined>,
    class: classes,
    limit,
    wait: seconds('How many seconds to wait for the first update.', 60),
  },
  answers: { 200: page },
  errors: [410, 503],
  answer: async ({ address: addresses, after, class: classes, limit, wait }, services, request) => {
    const polled = await request.listen((signal) =>
      pollLedgerUpdates(services, {
        ...(addresses && { addresses }),
        ...(after !== undefined && { after }),
        classes,
        limit,
        waitMs: wait * 1_000,
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
    // Without a cursor the same request has another answer tomorrow.
    const isKept = polled.value.value.isFull && after !== undefined
    const headers = { 'cache-control': isKept ? validatedByTag : 'no-store' }
    return ok(page.respond(request, { ...polled.value.value, updates }, { headers }))
  },
})

/**
 * The URL of a page binds the history before it, but not the rows in it: an older copy of the database that was restored may
 * have others there, and a page used without validation would be that of the former history.
 */
const validatedByTag = 'public, no-cache'

function isClass(name: string): name is PollQuestion['classes'][number] {
  return name === 'OWNED' || name === 'MENTIONED'
}
