import { hexToBytes } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { encodeBech32 } from '../../protocol/bech32.ts'
import { type AddressError, addressKeyOf } from '../../service/addresses/address-key.ts'
import type { Services } from '../../service/services.ts'
import {
  type LedgerUpdateView,
  maximumPageSize,
} from '../../service/updates/list-ledger-updates.ts'
import { type PollQuestion, pollLedgerUpdates } from '../../service/updates/poll-ledger-updates.ts'
import { parsePageSize } from '../../service/updates/update-position.ts'
import type { QueryParameterMalformed } from '../api-errors.ts'
import { toRest } from '../errors.ts'
import {
  about,
  bech32,
  count,
  flag,
  listOf,
  named,
  object,
  text,
  uint32,
  word,
} from './openapi/shape.ts'
import { json, type Route } from './route.ts'

const cursor = { ...text, pattern: '^[A-Za-z0-9_-]{36}$' }
const updateClass = word('OWNED', 'MENTIONED')
const hash = { ...text, pattern: '^0x[0-9a-f]{64}$' }

const pageShape = object({
  updates: listOf(
    object({
      cursor: about('The position of this update.', cursor),
      ordinal: about('The position among the updates of this address and class.', count),
      address: bech32,
      class: updateClass,
      roles: listOf(text),
      outputId: named('OutputId'),
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
    'Whether there are as many updates as were asked for; such a page changes only where an older copy of the database went on differently.',
    flag,
  ),
})

/** How long a client may wait for an update, in seconds. */
const longestWait = 60

/** The feed for clients that can hold no line (docs/feed.md): a page after a cursor, or a wait for its first update. */
export const feedUpdates: Route = {
  method: 'GET',
  path: '/feed/updates',
  about:
    'The updates after a cursor, in the order of the log; where there is none, the first that comes while the client waits.',
  query: {
    address: about(
      'Bech32 texts of this network, with commas between; left out: the whole ledger.',
      text,
    ),
    after: about('A cursor; left out: only what is committed from now on.', cursor),
    class: about('Why the updates are filed under the addresses; with a comma between both.', {
      ...text,
      default: 'OWNED',
    }),
    limit: about('The most updates of the page.', {
      ...count,
      minimum: 1,
      maximum: maximumPageSize,
      default: 100,
    }),
    wait: about('How many seconds to wait for the first update.', {
      ...count,
      maximum: longestWait,
      default: 0,
    }),
  },
  answers: {
    200: {
      about: 'A page, empty where nothing came.',
      json: pageShape,
      headers: {
        'cache-control':
          'A full page may be kept, and is asked about by its tag before it is used; any other is not kept.',
      },
    },
  },
  errors: [410, 503],
  answer: async (request, services) => {
    const question = readQuestion(request.query, services)
    if (!question.ok) return toRest(question.error)
    const polled = await request.listen((signal) =>
      pollLedgerUpdates(services, { ...question.value, signal }),
    )
    if (!polled.ok) return toRest(polled.error)
    if (!polled.value.ok) return toRest(polled.value.error)
    const { updates, isFull, ...cursors } = polled.value.value
    const page = { updates: updates.map((update) => itemOf(services, update)), ...cursors, isFull }
    // Without a cursor the same question has another answer tomorrow.
    const isKept = isFull && request.query.has('after')
    return json(200, page, { 'cache-control': isKept ? askedAbout : 'no-store' })
  },
}

/**
 * The address of a page binds the history before it, but not the rows in it: an older copy of the database that was put back may
 * have others there, and a page that is kept unasked would be that of the former history.
 */
const askedAbout = 'public, no-cache'

function itemOf({ parameters }: Services, update: LedgerUpdateView) {
  return {
    cursor: update.cursor,
    ordinal: update.ordinal,
    address: encodeBech32(parameters.bech32Hrp, hexToBytes(update.address)),
    class: update.class,
    roles: update.roles,
    outputId: update.outputId,
    isSpent: update.isSpent,
    milestoneIndex: update.milestoneIndex,
    milestoneTimestamp: update.milestoneTimestamp,
    historyHash: update.historyHash,
  }
}

type QuestionError = AddressError | QueryParameterMalformed

function readQuestion(
  query: ReadonlyMap<string, string>,
  { parameters }: Services,
): Result<Omit<PollQuestion, 'signal'>, QuestionError> {
  const addresses = query.get('address')?.split(',')
  const keys: PollQuestion['addresses'] & unknown[] = []
  for (const address of addresses ?? []) {
    const key = addressKeyOf(parameters.bech32Hrp, address, 'query: address')
    if (!key.ok) return key
    keys.push(key.value)
  }
  const classes = (query.get('class') ?? 'OWNED').split(',')
  if (!classes.every(isClass)) return malformed('class', 'OWNED, MENTIONED or both')
  const limit = parsePageSize(query.get('limit') ?? '100') ?? 0
  if (limit < 1 || limit > maximumPageSize) return malformed('limit', `1 to ${maximumPageSize}`)
  const seconds = query.get('wait') ?? '0'
  const wait = /^[0-9]{1,3}$/.test(seconds) ? Number(seconds) : longestWait + 1
  if (wait > longestWait) return malformed('wait', `0 to ${longestWait} seconds`)
  const after = query.get('after')
  return ok({
    ...(addresses && { addresses: keys }),
    ...(after !== undefined && { after }),
    classes,
    limit,
    waitMs: wait * 1_000,
  })
}

function isClass(name: string): name is PollQuestion['classes'][number] {
  return name === 'OWNED' || name === 'MENTIONED'
}

function malformed(name: string, expected: string): Result<never, QuestionError> {
  return err({ code: 'QUERY_PARAMETER_MALFORMED', name, expected })
}
