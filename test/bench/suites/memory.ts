import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { present } from '../../../src/lib/assert.ts'
import { makeFolder } from '../../support/program.ts'
import { addressOf, untilHealth, users } from '../../support/wallet.ts'
import { processorMs } from '../cluster/processor.ts'
import { printTable } from '../measure.ts'
import { type Line, openLine } from '../rest/load.ts'

/**
 * Measures the memory of the built gateway on SQLite under a load of mixed requests, as Linux reports it. `BENCH_REQUESTS` is the
 * number of requests. `BENCH_COMMAND` is the command line to run, by default this Node with `dist/main.js`.
 */

const requests = Number(process.env.BENCH_REQUESTS ?? 200_000)
const atOnce = 32
const built = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const command = process.env.BENCH_COMMAND?.split(' ') ?? [process.execPath, built]

/** Prints the memory during the load, and after it. */
export async function run(): Promise<void> {
  const folder = makeFolder()
  const [program = '', ...words] = command
  const child = spawn(program, [...words, 'serve'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      LOG_LEVEL: 'error',
      DATABASE_URL: folder.databaseUrl,
      KEY_FILE: `${folder.databaseFile}.key`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    const url = await urlOf(child)
    const pid = present(child.pid, 'its number')
    const table = [['requests', ...memoryNames]]
    const note = (what: string) => table.push([what, ...memoryOf(pid)])
    note('none')
    await untilHealth(url)
    const load = await createLoad(url)
    for (let from = 0; from < requests; from += requests / 10) {
      await load.send(from, from + requests / 10)
      note(`${from + requests / 10}`)
    }
    load.end()
    table.push([`${restSeconds} s later`, ...(await memoryAtRest(pid))])
    printTable(table)
    console.log(load.submissions())
  } finally {
    child.kill('SIGTERM')
    await ended
    folder.remove()
  }
}

function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part
      const [, url] = /GraphQL\s+(http\S+)\/graphql\n/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('exit', (code) =>
      reject(new Error(`the gateway ended with ${code} before it listened`)),
    )
  })
}

/** The names of the values of `memoryOf`. */
export const memoryNames = ['resident MB', 'anonymous MB', 'maximum MB', 'processor s']

/** The resident, anonymous and maximum memory of a process in megabytes, and its processor time in seconds. */
export function memoryOf(pid: number): string[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) =>
    (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1.024e-3).toFixed(0)
  const names = ['VmRSS', 'RssAnon', 'VmHWM'] as const
  return [...names.map(megabytes), (processorMs(pid) / 1_000).toFixed(1)]
}

/**
 * Seconds without requests after which V8 has returned memory that it does not use. It looks every eight seconds, and begins 100 s after
 * the last collection of old objects, of which there may be one after the load. It is to begin earlier in a process that allocates little:
 * but V8 of Node 24 also asks that of the heap of C++ objects, and takes no allocation for an unknown rate, which counts as a high one
 * (deps/v8/src/heap/heap.cc, `HasLowAllocationRate`).
 */
export const restSeconds = 240

/** Returns the memory of a process that has had no requests for `restSeconds`. */
export async function memoryAtRest(pid: number): Promise<string[]> {
  await delay(restSeconds * 1_000)
  return memoryOf(pid)
}

/** Creates a load whose requests have numbers; equal numbers result in equal requests. Sends several at once. */
async function createLoad(url: string) {
  const lines = await Promise.all(
    Array.from({ length: atOnce }, () => openLine(Number(new URL(url).port))),
  )
  const blockIds: string[] = []
  let refused = 0

  async function send(line: Line, n: number): Promise<void> {
    const { path, body } = questionOf(n, blockIds)
    if (body === undefined) {
      await line.get(path)
      return
    }
    const answer = await line.post(path, body)
    const text = answer.body.toString()
    if (path === submission) {
      // On a busy machine the ledger may temporarily reject blocks; the other requests are measured.
      if (answer.status === 201) blockIds.push(JSON.parse(text).blockId)
      else refused++
    } else if (text.includes('"errors"')) throw new Error(`${body}: ${text}`)
  }

  return {
    send: async (from: number, to: number) => {
      let next = from
      const work = async (line: Line) => {
        while (next < to) await send(line, next++)
      }
      await Promise.all(lines.map(work))
    },
    submissions: () => `${blockIds.length} blocks accepted, ${refused} rejected`,
    end: () => {
      for (const line of lines) line.end()
    },
  }
}

const submission = '/api/core/v3/blocks'
const addresses = users.map(addressOf)

interface Question {
  readonly path: string
  /** The body of a POST; without it, the request is a GET. */
  readonly body?: string
}

/**
 * Of a hundred requests, 45 are pages of the explorer's list, 25 are pages by GraphQL, 21 are reads of Core v3, 5 submit a payload for
 * which the gateway makes a block, and 4 have a new document.
 */
function questionOf(n: number, blockIds: readonly string[]): Question {
  const kind = n % 100
  const address = present(addresses[n % addresses.length], 'an address')
  if (kind < 45) {
    const list = '/api/explorer/v2/ledger/updates/by-address'
    return { path: `${list}/${address}?pageSize=${1 + (n % 97)}` }
  }
  if (kind < 70) return graphql(page, { address, first: 1 + (n % 50) })
  if (kind < 91) {
    const blockId = blockIds[(n * 7_919) % Math.max(1, blockIds.length)]
    if (kind < 72 || blockId === undefined) return { path: '/api/core/v3/info' }
    return { path: `${submission}/${blockId}${kind < 81 ? '' : '/metadata'}` }
  }
  if (kind < 95) {
    return graphql(
      `{ q${n}: address(address: "${address}") { balance { total } } ${unspent(address)} }`,
      {},
    )
  }
  const tag = `0x${n.toString(16).padStart(8, '0')}`
  const payload = { type: 0, tag, data: `0x${'ab'.repeat(n % 400)}` }
  return { path: submission, body: JSON.stringify(payload) }
}

const page = /* GraphQL */ `
  query ($address: String!, $first: Int!) {
    ledgerUpdates(address: $address, first: $first) {
      totalCount
      nodes { milestoneIndex outputId isSpent cursor output { content { __typename } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`

const unspent = (address: string) =>
  `unspentOutputs(filter: { unlockableBy: "${address}" }, first: 5) { nodes { outputId } }`

function graphql(query: string, variables: object): Question {
  return { path: '/graphql', body: JSON.stringify({ query, variables }) }
}
