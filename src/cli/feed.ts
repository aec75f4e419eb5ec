import { type FeedEvent, type FeedUpdate, follow } from '../client/follow.ts'
import { decodeBech32 } from '../protocol/bech32.ts'
import { type Call, readCall, urlProblems } from './call.ts'
import { type Command, done, fail, type ProcessIo } from './command.ts'
import { defaultUrl } from './declaration.ts'
import { feedDeclaration } from './declarations/gateway.ts'
import { createStatusLine, type StatusLine } from './progress.ts'

/** Follows the ledger updates of addresses: prints a growing table on a terminal, and the events of the feed as JSON when piped. */
export const feed: Command = {
  run: async (process, given) => {
    const call = readCall(process, feedDeclaration, given, problemsOf)
    if (typeof call === 'number') return call
    const { words: addresses, flag, signal } = call
    const url = flag('url') ?? defaultUrl
    const after = flag('after')
    const line = createStatusLine(process)
    const table = call.isJson ? undefined : createTable(process, line)
    const waiting = `waiting for ${url}`
    let isReported = false
    const onDisconnected = () => {
      line.draw(waiting)
      // Where no status line is shown, each outage has one line.
      if (process.progressColumns === undefined && !isReported) {
        process.stderr(`ledger-gateway feed: ${waiting}\n`)
      }
      isReported = true
    }
    const options = {
      url,
      signal,
      selection,
      onDisconnected,
      ...(addresses.length > 0 && { addresses }),
    }
    line.draw(waiting)
    let problem: string | undefined
    for await (const event of follow<Amounts>({
      ...options,
      ...(after !== undefined && { after }),
    })) {
      isReported = false
      if (event.__typename === 'FeedEnded') problem = `${event.code}: ${event.message}`
      else if (call.isJson) call.print('', event)
      else table?.show(event)
      if (event.__typename === 'FeedReset') problem = resetMessage(event)
    }
    line.draw('')
    return problem === undefined ? done : fail(process, 'feed', problem)
  },
}

/** The additional fields of each update. */
interface Amounts {
  readonly output: { readonly amount: string }
}

const selection = 'fragment Amounts on LedgerUpdate { output { amount } }'

function problemsOf({ words, flag }: Call): readonly string[] {
  return [
    ...words
      .filter((text) => !decodeBech32(text).ok)
      .map((text) => `${text} is not a Bech32 address`),
    ...(words.length > maxAddresses ? [`at most ${maxAddresses} addresses are allowed`] : []),
    ...urlProblems('--url', flag('url')),
  ]
}

const maxAddresses = 100

function resetMessage({ reason, oldestCursor }: FeedEvent & { __typename: 'FeedReset' }): string {
  const why =
    reason === 'LOG_REPLACED'
      ? 'the log of this ledger was replaced by the log of a backup or of another ledger'
      : `the log no longer contains this cursor; it starts after ${oldestCursor}`
  return `${reason}: ${why}; start again without --after`
}

/** Prints a line for each update, and the position of the feed in a status line below. */
function createTable(process: ProcessIo, line: StatusLine) {
  const isWide = (process.progressColumns ?? 0) >= wideColumns
  let updates = 0
  let opened = 0

  function show(event: FeedEvent<Amounts>): void {
    if (event.__typename === 'FeedOpened') {
      const text =
        opened === 0 ? headings : `-- the connection was lost; resumed after ${event.cursor}`
      line.above(() => process.stdout(`${text}\n`))
      opened += 1
    }
    if (event.__typename === 'LedgerUpdateBatch') {
      updates += event.updates.length
      const rows = event.updates.map((update) => row(update, isWide)).join('')
      line.above(() => process.stdout(rows))
    }
    const mode = 'mode' in event && event.mode === 'CATCHING_UP' ? 'catching up' : 'live'
    if ('milestoneIndex' in event) {
      const count = `${updates} ${updates === 1 ? 'update' : 'updates'}`
      line.draw(`${mode} at milestone ${event.milestoneIndex}, ${count}, ${event.cursor}`)
    }
  }

  return { show }
}

/** Width of a row with full identifiers. */
const wideColumns = 187

/** Width of an amount. The largest possible supply has 20 digits; most amounts have fewer. */
const amountColumns = 18

const headings = `milestone  time      ${'amount'.padStart(amountColumns)}  address            output`

/** Formats an update. A created output adds its amount to the address, and a spent output subtracts it. */
function row(update: FeedUpdate & Amounts, isWide: boolean): string {
  const { milestoneIndex, milestoneTimestamp, isSpent, address, outputId, output } = update
  const time = new Date(1_000 * milestoneTimestamp).toISOString().slice(11, 19)
  const change = `${isSpent ? '-' : '+'}${output.amount}`.padStart(amountColumns)
  const ids = [address, outputId].map((id) => (isWide ? id : shortened(id))).join('  ')
  return `${String(milestoneIndex).padStart(9)}  ${time}  ${change}  ${ids}\n`
}

function shortened(text: string): string {
  return `${text.slice(0, 10)}…${text.slice(-6)}`
}
