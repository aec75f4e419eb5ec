import { ok, type Result } from '../../lib/result.ts'
import {
  type AddressHistory,
  type HistoryError,
  openAddressHistory,
} from '../../service/addresses/address-history.ts'
import { addressText } from '../../service/addresses/address-text.ts'
import type { HistoryRow } from '../../service/addresses/history-rows.ts'
import { startDownload } from './download.ts'
import { about, text, word } from './form.ts'
import { anyAddress, malformed, type Parameter } from './parameters.ts'
import type { StreamedResponse } from './response.ts'
import { route } from './route.ts'

/** The whole history of an address as a file, for the books of its owner. */

/** A day, or a moment by RFC 3339; in Unix seconds. */
function moment(sentence: string): Parameter<number | undefined> {
  const shape = about(
    `${sentence} A day in UTC like 2026-11-22, or a moment like 2026-11-22T08:30:00Z.`,
    text,
  ).shape
  return {
    shape,
    read: (given, { name }) => {
      if (given === undefined) return ok(undefined)
      const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/i.test(given)
        ? Date.parse(given)
        : Number.NaN
      return Number.isNaN(ms)
        ? malformed(name, 'a day or a moment by RFC 3339')
        : ok(Math.ceil(ms / 1_000))
    },
  }
}

const format: Parameter<Format> = {
  shape: about('The form of the file.', word('csv', 'ndjson')).shape,
  read: (given = 'csv', { name }) =>
    given === 'csv' || given === 'ndjson' ? ok(given) : malformed(name, 'csv or ndjson'),
}

type Format = 'csv' | 'ndjson'

const cursor: Parameter<string | undefined> = {
  shape: about('Of the last whole row that came: the file begins after it.', text).shape,
  read: (given) => ok(given),
}

const sentence =
  'One row for each transaction and token, the oldest first: `time` (UTC, the end of the milestone), `milestone`, `transactionId` ' +
  '(empty where an expiration passed outputs on), `token` (`base` or the id of a native token), `in` and `out` (what the address ' +
  'gained or lost, without the change), `balance` (base tokens after it), `manaIn` and `manaOut` (stored mana), ' +
  '`counterparties` (at most ten, with spaces between), `counterpartyCount`, `state` (FINALIZED or EXPIRED), `cursor`.'

/** The history as a stream. */
export const addressHistoryRoute = route({
  method: 'GET',
  path: '/api/gateway/v1/addresses/{address}/history',
  about:
    'The whole history of an address up to the newest milestone, as a file. A download that broke off goes on with a cursor.',
  params: { address: anyAddress },
  query: {
    format,
    from: moment('Milestones that end at this moment or later.'),
    to: moment('Milestones that end before this moment.'),
    cursor,
  },
  answers: {
    200: {
      about: sentence,
      texts: { 'text/csv': 'A header and the rows.', 'application/x-ndjson': 'An object a line.' },
      headers: {
        'content-disposition': 'the name of the file',
        'cache-control': '`no-store`',
        'x-kept-from-milestone': 'what happened before this milestone is no longer kept',
      },
    },
  },
  errors: [404, 410],
  answer: async ({ address: { key }, format, from, to, cursor }, services, request) => {
    const opened: Result<AddressHistory, HistoryError> = await openAddressHistory(services, {
      address: key,
      from,
      to,
      cursor,
    })
    if (!opened.ok) return opened
    const download = await startDownload(request.listen)
    if (!download.ok) return download
    const { keptFrom, rows } = opened.value
    // Not the text that was given, which may have any human-readable part.
    const named = addressText(services.parameters.bech32Hrp, key)
    const { type, head, print } = forms[format]
    // A file that goes on has its header already.
    const isWhole = cursor === undefined
    const response: StreamedResponse = {
      status: 200,
      headers: {
        'content-type': type(isWhole),
        'content-disposition': `attachment; filename="${named}.${format}"`,
        'cache-control': 'no-store',
        'x-kept-from-milestone': `${keptFrom}`,
      },
      stream: { ...download.value, pieces: linesOf(rows, isWhole ? head : '', print) },
    }
    return ok(response)
  },
})

async function* linesOf(
  rows: AddressHistory['rows'],
  head: string,
  print: (row: HistoryRow) => string,
): AsyncGenerator<string> {
  if (head !== '') yield head
  for await (const some of rows) yield some.map(print).join('')
}

const columns = [
  'time',
  'milestone',
  'transactionId',
  'token',
  'in',
  'out',
  'balance',
  'manaIn',
  'manaOut',
  'counterparties',
  'counterpartyCount',
  'state',
  'cursor',
] as const

function cellsOf(row: HistoryRow) {
  return {
    time: new Date(row.time * 1_000).toISOString().replace('.000Z', 'Z'),
    milestone: row.milestoneIndex,
    transactionId: row.transactionId ?? '',
    token: row.token ?? 'base',
    in: `${row.gained}`,
    out: `${row.lost}`,
    balance: row.balance === undefined ? '' : `${row.balance}`,
    manaIn: `${row.manaGained}`,
    manaOut: `${row.manaLost}`,
    counterparties: row.counterparties,
    counterpartyCount: row.counterpartyCount,
    state: row.state,
    cursor: row.cursor,
  }
}

const forms = {
  csv: {
    type: (isWhole: boolean) => `text/csv; charset=utf-8; header=${isWhole ? 'present' : 'absent'}`,
    head: `${columns.join(',')}\r\n`,
    print: (row: HistoryRow) => {
      const cells = cellsOf(row)
      const texts = columns.map((name) => {
        const value = cells[name]
        return csvCell(Array.isArray(value) ? value.join(' ') : String(value))
      })
      return `${texts.join(',')}\r\n`
    },
  },
  ndjson: {
    type: () => 'application/x-ndjson; charset=utf-8',
    head: '',
    print: (row: HistoryRow) => {
      const { transactionId, balance, ...cells } = cellsOf(row)
      const known = { transactionId: transactionId || null, balance: balance || null }
      return `${JSON.stringify({ ...cells, ...known })}\n`
    },
  },
} as const

/** A cell by RFC 4180. A spreadsheet takes what begins with one of these characters for a formula. */
export function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
