import { parseArgs } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import { makeFolder } from '../../support/program.ts'
import { type LargeLedger, makeLedger, startGateway } from '../graphql/data.ts'
import { plainFields } from '../graphql/peers.ts'
import { choices } from '../graphql/questions.ts'
import { printTable } from '../measure.ts'
import { type Line, openLine } from '../rest/load.ts'
import { memoryAtRest, memoryNames, memoryOf } from './memory.ts'

/** Measures the memory of the built gateway on SQLite when few documents are requested twice. */

const help = `npm run bench -- graphql-memory [--requests N]

Sends N requests (1,000,000 by default) with different documents over 16 connections. After the first 10,000 (or the first tenth,
whichever is less) and after each further tenth it prints the memory at once, and after a pause of 20 s.
Target: in the pause after all requests, at most 10 % more than in the first pause.`

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
    const table = [['requests', ...memoryNames, 'resident MB at rest']]
    const note = async (sent: number) => {
      const loaded = memoryOf(pid)
      const [atRest = ''] = await memoryAtRest(pid)
      table.push([String(sent), ...loaded, atRest])
    }
    try {
      await note(0)
      for (let sent = 0; sent < requests; ) {
        const step = Math.min(sent === 0 ? first : requests / 10, requests - sent)
        await send(lines, ledger, step)
        sent += step
        await note(sent)
      }
      printTable(table)
      console.log(
        `\nmemory after all requests to after ${first}: ${growth(table, 1)} under load, ` +
          `${growth(table, memoryNames.length + 1)} at rest (target: at most 1.1)`,
      )
    } finally {
      for (const line of lines) line.end()
      await gateway.end('SIGTERM')
    }
  } finally {
    folder.remove()
  }
}

/** Returns the last value of a column of the table as a multiple of the value after the first requests. */
function growth(table: readonly (readonly string[])[], column: number): string {
  return (Number(table.at(-1)?.[column]) / Number(table[2]?.[column])).toFixed(2)
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
