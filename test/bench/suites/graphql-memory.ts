import { parseArgs } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import { makeFolder } from '../../support/program.ts'
import { type LargeLedger, makeLedger, startGateway } from '../graphql/data.ts'
import { plainFields } from '../graphql/peers.ts'
import { choices } from '../graphql/questions.ts'
import { printTable } from '../measure.ts'
import { type Line, openLine } from '../rest/load.ts'
import { memoryOf } from './memory.ts'

/** Measures the memory of the built gateway on SQLite when few documents are requested twice. */

const help = `npm run bench -- graphql-memory [--requests N]

Sends N requests (1,000,000 by default) with different documents over 16 connections, and prints the resident memory in between.
Target: after all requests, at most 10 % more than after the first 10,000 or the first tenth, whichever is less.`

const connections = 16

/** Prints the memory before and after the first requests, and after each further tenth. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: { help: { type: 'boolean', default: false }, requests: { type: 'string' } },
  })
  if (values.help) return console.log(help)
  const requests = Number(values.requests ?? 1_000_000)
  const first = Math.min(10_000, requests / 10)
  const folder = makeFolder()
  try {
    const { databaseUrl, databaseFile } = folder
    const ledger = await makeLedger(databaseUrl, `${databaseFile}.key`, 100_000)
    const gateway = await startGateway(ledger)
    const pid = present(gateway.process.pid, 'its number')
    const lines = await openLines(Number(new URL(gateway.url).port))
    const table = [['requests', 'resident MB', 'anonymous MB', 'maximum MB', 'processor s']]
    const note = (sent: number) => table.push([String(sent), ...memoryOf(pid)])
    try {
      note(0)
      await send(lines, ledger, first)
      note(first)
      const begun = Number(table.at(-1)?.[1])
      for (let sent = first; sent < requests; ) {
        const step = Math.min(requests / 10, requests - sent)
        await send(lines, ledger, step)
        sent += step
        note(sent)
      }
      printTable(table)
      const ratioTo = (former: number) => (Number(table.at(-1)?.[1]) / former).toFixed(2)
      const [, , , nextRow = []] = table
      const [next, nextMegabytes] = nextRow
      console.log(
        `\nmemory after all requests to after ${first}: ${ratioTo(begun)} (target: at most 1.1), ` +
          `and to after ${next}: ${ratioTo(Number(nextMegabytes))}`,
      )
    } finally {
      for (const line of lines) line.end()
      await gateway.end('SIGTERM')
    }
  } finally {
    folder.remove()
  }
}

function openLines(port: number): Promise<readonly Line[]> {
  return Promise.all(Array.from({ length: connections }, () => openLine(port)))
}

async function send(lines: readonly Line[], ledger: LargeLedger, count: number): Promise<void> {
  let left = count
  await Promise.all(
    lines.map(async (line) => {
      while (left-- > 0) {
        const query = randomDocument(ledger)
        const { status, body } = await line.post('/graphql', JSON.stringify({ query }))
        if (status !== 200 || body.includes('"errors"')) throw new Error(`${query}: ${body}`)
      }
    }),
  )
}

/** A document with pages of random sizes, random fields under random aliases, and some other root fields. */
function randomDocument(ledger: LargeLedger): string {
  const name = () => `n${Math.floor(Math.random() * 2 ** 40).toString(36)}`
  const some = (all: readonly string[]) => all.filter(() => Math.random() < 0.5)
  const pages = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => {
    const { address, first } = choices.newest(ledger, 1 + Math.floor(Math.random() * 5))
    const fields = ['outputId', ...some(plainFields)].map((field) => `${name()}: ${field}`)
    return `${name()}: ledgerUpdates(address: "${address}", first: ${first}) {
      totalCount nodes { ${fields.join(' ')} ${some(['output { bookedSlot bytes }']).join('')} } }`
  })
  const others = some([
    `${name()}: milestone { index }`,
    `${name()}: network { __typename }`,
    `${name()}: health { isHealthy }`,
  ])
  return `query ${name()} { ${[...pages, ...others].join(' ')} }`
}
