import { parseMoment } from '../../lib/calendar.ts'
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

/** The complete history of an address as a file, for the accounting of its owner. */

/** A query parameter with a day or an RFC 3339 time, read as Unix seconds. */
function moment(sentence: string): Parameter<number | undefined> {
  const shape = about(
    `${sentence} A day in UTC such as 2026-11-22, or a time such as 2026-11-22T08:30:00Z.`,
    text,
  ).shape
  return {
    shape,
    read: (given, { name }) => {
      if (given === undefined) return ok(undefined)
      const ms = parseMoment(given)
      return Number.isNaN(ms)
        ? malformed(name, 'a day or a time in RFC 3339 format')
        : ok(Math.ceil(ms / 1_000))
    },
  }
}

const format: Parameter<Format> = {
  shape: about('The format of the file.', word('csv', 'ndjson')).shape,
  read: (given = 'csv', { name }) =>
    given === 'csv' || given === 'ndjson' ? ok(given) : malformed(name, 'csv or ndjson'),
}

type Format = 'csv' | 'ndjson'

const cursor: Parameter<string | undefined> = {
  shape: about('Cursor of the last complete row received. The file continues after this row.', text)
    .shape,
  read: (given) => ok(given),
}

const sentence =
  'One row for each transaction and token, oldest first: `time` (UTC, the end of the milestone), `milestone`, `transactionId` ' +
  '(empty if an expiration transferred outputs), `token` (`base` or the id of a native token), `in` and `out` (amounts that the ' +
  'address gained and lost, without change), `balance` (base tokens afterwards), `manaIn` and `manaOut` (stored mana), ' +
  '`counterparties` (at most ten, separated by spaces), `counterpartyCount`, `state` (FINALIZED or EXPIRED), `cursor`.'

export const addressHistoryRoute = route({
  method: 'GET',
  path: '/api/gateway/v1/addresses/{address}/history',
  about:
    'Returns the complete history of an address up to the newest milestone as a file. An interrupted download can be continued with a cursor.',
  params: { address: anyAddress },
  query: {
    format,
    from: moment('Only milestones that end at this time or later.'),
    to: moment('Only milestones that end before this time.'),
    cursor,
  },
  answers: {
    200: {
      about: sentence,
      texts: {
        'text/csv': 'A header row and the data rows.',
        'application/x-ndjson': 'One JSON object per line.',
      },
      headers: {
        'content-disposition': 'The name of the file.',
        'cache-control': '`no-store`',
        'x-kept-from-milestone': 'The oldest milestone whose updates are retained.',
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
    const { retainedFrom, rows } = opened.value
    // The requested text may have the human-readable part of any network.
    const named = addressText(services.parameters.bech32Hrp, key)
    const { type, head, print } = forms[format]
    // A continued file already has a header row.
    const isWhole = cursor === undefined
    const response: StreamedResponse = {
      status: 200,
      headers: {
        'content-type': type(isWhole),
        'content-disposition': `attachment; filename="${named}.${format}"`,
        'cache-control': 'no-store',
        'x-kept-from-milestone': `${retainedFrom}`,
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

/** Formats a CSV cell (RFC 4180). A leading quote keeps spreadsheets from running a value as a formula. */
export function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
