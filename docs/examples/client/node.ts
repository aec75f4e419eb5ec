// Prints what an address receives and spends, and goes on where it ended: node node.ts URL ADDRESS
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { follow } from '@ledger-gateway/client'

interface Amounts {
  readonly output: { readonly amount: string }
}

const [url = 'http://127.0.0.1:4000', address = ''] = process.argv.slice(2)
const place = './cursor'
const after = existsSync(place) && readFileSync(place, 'utf8')

const feed = follow<Amounts>({
  url,
  addresses: [address],
  ...(after && { after }),
  selection: 'fragment Amounts on LedgerUpdate { output { amount } }',
})
for await (const event of feed) {
  if (event.__typename === 'FeedEnded') throw new Error(`${event.code}: ${event.message}`)
  if (event.__typename === 'FeedReset')
    throw new Error(`${event.reason}: delete ${place} to start anew`)
  if (event.__typename === 'FeedOpened') console.log(`following from ${event.cursor}`)
  if (event.__typename === 'LedgerUpdateBatch') {
    for (const { outputId, isSpent, output } of event.updates) {
      console.log(`${isSpent ? '-' : '+'}${output.amount} ${outputId}`)
    }
  }
  // Of every event, also of one without updates, and after its updates: a program that ends before reads these again.
  if ('cursor' in event) {
    // A program that ends while it writes must not leave an empty file.
    writeFileSync(`${place}.new`, event.cursor)
    renameSync(`${place}.new`, place)
  }
}
