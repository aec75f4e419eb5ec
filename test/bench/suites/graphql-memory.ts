import { parseArgs } from 'node:util'
import { present } from '../../../src/lib/assert.ts'
import { makeFolder } from '../../support/program.ts'
import { type LargeLedger, makeLedger, startGateway } from '../graphql/data.ts'
import { plainFields } from '../graphql/peers.ts'
import { choices } from '../graphql/questions.ts'
import { printTable } from '../measure.ts'
import { openLine } from '../rest/load.ts'
import { memoryAtRest, memoryNames, memoryOf, restSeconds } from './memory.ts'

/** Measures the memory of the built gateway on SQLite when few documents are requested twice. */

const help = `npm run bench -- graphql-memory [--requests N]

Sends N requests (1,000,000 by default) with different documents over 16 connections. Prints the memory after the first 10,000 (or the
first tenth, whichever is less) and after each further tenth, and after ${restSeconds} seconds of rest after the first and the last of them.
Target: after all requests, at most 10 % more than after the first of them.`

const connections = 16

/** Prints the memory before and after the first requests, after each further tenth, and in two pauses. */
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
    const port = Number(new URL(gateway.url).port)
    const table = [['requests', ...memoryNames]]
    const note = (label: string) => table.push([label, ...memoryOf(pid)])
    const noteAtRest = async () => {
      const values = await memoryAtRest(pid)
      table.push(['at rest', ...values])
      return Number(values[0])
    }
    try {
      note('0')
      await send(port, ledger, first)
      note(String(first))
      const atRest = await noteAtRest()
      for (let sent = first; sent < requests; ) {
        const step = Math.min(requests / 10, requests - sent)
        await send(port, ledger, step)
        sent += step
        note(String(sent))
      }
      const loaded = Number(table.at(-1)?.[1])
      const ratio = (await noteAtRest()) / atRest
      const [, , firstRow, , nextRow] = table
      const to = (row?: readonly string[]) =>
        `${(loaded / Number(row?.[1])).toFixed(2)} after ${row?.[0]}`
      printTable(table)
      console.log(
        `\nmemory after all requests to that after fewer: ${to(firstRow)} (target: at most 1.1), ${to(nextRow)}; ` +
          `at rest after all to at rest after the first: ${ratio.toFixed(2)}`,
      )
    } finally {
      await gateway.end('SIGTERM')
    }
  } finally {
    folder.remove()
  }
}

/** Sends requests over new connections, because the gateway closes those that are not used while it rests. */
async function send(port: number, ledger: LargeLedger, count: number): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const line = await openLine(port)
      while (left-- > 0) {
        const query = randomDocument(ledger)
        const { status, body } = await line.post('/graphql', JSON.stringify({ query }))
        if (status !== 200 || body.includes('"errors"')) throw new Error(`${query}: ${body}`)
      }
      line.end()
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
