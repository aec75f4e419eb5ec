import { type FeedEvent, type FeedUpdate, follow } from '../client/follow.ts'
import { decodeBech32 } from '../protocol/bech32.ts'
import { type Call, readCall, urlProblems } from './call.ts'
import { type Command, done, failed, type ProcessIo } from './command.ts'
import { usualUrl } from './declaration.ts'
import { feedDeclaration } from './declarations/gateway.ts'
import { createStatusLine, type StatusLine } from './progress.ts'

/** Follows the ledger updates of addresses: a table that grows on a terminal, the events of the feed as JSON when piped. */
export const feed: Command = {
  run: async (process, given) => {
    const call = readCall(process, feedDeclaration, given, problemsOf)
    if (typeof call === 'number') return call
    const { words: addresses, flag, signal } = call
    const url = flag('url') ?? usualUrl
    const after = flag('after')
    const line = createStatusLine(process)
    const table = call.isJson ? undefined : createTable(process, line)
    const options = { url, signal, selection, ...(addresses.length > 0 && { addresses }) }
    line.draw(`waiting for ${url}`)
    let problem: string | undefined
    for await (const event of follow<Amounts>({
      ...options,
      ...(after !== undefined && { after }),
    })) {
      if (event.__typename === 'FeedEnded') problem = `${event.code}: ${event.message}`
      else if (call.isJson) call.print('', event)
      else table?.show(event)
      if (event.__typename === 'FeedReset') problem = resetMessage(event)
    }
    line.draw('')
    if (problem === undefined) return done
    process.stderr(`ledger-gateway feed: ${problem}\n`)
    return failed
  },
}

/** What each update has besides. */
interface Amounts {
  readonly output: { readonly amount: string }
}

const selection = 'fragment Amounts on LedgerUpdate { output { amount } }'

function problemsOf({ words, flag }: Call): readonly string[] {
  return [
    ...words.filter((text) => !decodeBech32(text).ok).map((text) => `${text} is no Bech32 address`),
    ...(words.length > mostAddresses ? [`at most ${mostAddresses} addresses`] : []),
    ...urlProblems('--url', flag('url')),
  ]
}

const mostAddresses = 100

function resetMessage({ reason, oldestCursor }: FeedEvent & { __typename: 'FeedReset' }): string {
  const why =
    reason === 'LOG_REPLACED'
      ? 'the log of this ledger was replaced, by that of a backup or of another ledger'
      : `the log begins behind this cursor now, after ${oldestCursor}`
  return `${reason}: ${why}; begin again without --after`
}

/** Prints a line for each update, and under them how far the feed is. */
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
      line.draw(`${mode} at milestone ${event.milestoneIndex}, ${updates} updates, ${event.cursor}`)
    }
  }

  return { show }
}

/** So wide is a row with whole identifiers. */
const wideColumns = 187

/** The longest supply of a network has 20 digits; usual amounts have fewer. */
const amountColumns = 18

const headings = `milestone  time      ${'amount'.padStart(amountColumns)}  address            output`

/** A created output adds its amount to the address, a spent one takes it. */
function row(update: FeedUpdate & Amounts, isWide: boolean): string {
  const { milestoneIndex, milestoneTimestamp, isSpent, address, outputId, output } = update
  const time = new Date(1_000 * milestoneTimestamp).toISOString().slice(11, 19)
  const change = `${isSpent ? '-' : '+'}${output.amount}`.padStart(amountColumns)
  const [where, what] = isWide ? [address, outputId] : [shortened(address), shortened(outputId)]
  return `${String(milestoneIndex).padStart(9)}  ${time}  ${change}  ${where}  ${what}\n`
}

function shortened(text: string): string {
  return `${text.slice(0, 10)}…${text.slice(-6)}`
}
