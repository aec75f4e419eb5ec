import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { openFeed } from '../../../src/feed/open.ts'
import { createWake } from '../../../src/feed/wake.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { bytesToHex, type Hex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Result } from '../../../src/lib/result.ts'
import type { Services } from '../../../src/service/services.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import { ownedStatements } from '../../../src/store/sql/owned.ts'
import { dialect } from '../../../src/store/sql/sqlite/dialect.ts'
import { addressText, servedParameters } from '../../support/serve-log.ts'
import { startTransports } from '../../support/start-gateway.ts'
import { testGenesis } from '../../support/store-rows.ts'
import { busyAddress, growLog } from './log.ts'
import type { Question, ServerReport } from './protocol.ts'

/** The server process of the REST benchmark: the transports of the gateway on a large log, and a bare handler on the same file. */

const [file = '', rowsText = '', depthText = ''] = process.argv.slice(2)
const url = `file:${file}`
const log = silentLog
const store = unwrap(await openStore({ url, log }))
const database = unwrap(await openDatabase({ url, log }))
const lease = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
const genesis = testGenesis()
const emptyCommit = { ...genesis.commit, entries: [] }
unwrap(
  await store.write.initialize(lease.term, {
    ...genesis,
    outputs: [],
    accounts: [],
    commit: emptyCommit,
  }),
)
await growLog(database, Number(rowsText))
await database.close()

const feed = await openFeed({
  reader: store.read,
  parameters: servedParameters,
  wake: createWake(),
  log: silentLog,
})
const services = {
  store,
  parameters: servedParameters,
  feed,
  clock: systemClock,
} as Partial<Services> as Services
const transports = await startTransports(services)

const connection = new DatabaseSync(file, { readOnly: true })
const page = connection.prepare(ownedStatements(dialect).descending.atPlace)

interface BareRow {
  readonly milestoneIndex: number
  readonly outputId: Uint8Array
  readonly isSpent: number
}

const bare = createServer((request, response) => {
  const query = new URLSearchParams(request.url?.slice(2))
  const id = Buffer.from(query.get('outputId') ?? '', 'hex')
  const slot = Number(query.get('slot'))
  const address = Buffer.from(query.get('address') ?? '', 'hex')
  const rows = page.all(
    address,
    slot,
    id.subarray(0, 36),
    id.subarray(37, 38),
    id.subarray(36, 37),
    Number(query.get('isSpent')),
    101,
  ) as unknown as (Omit<BareRow, 'outputId'> & { readonly outputId: Hex })[]
  const items = rows.slice(0, 100).map(({ outputId, isSpent, milestoneIndex }) => ({
    outputId,
    isSpent: isSpent === 1,
    milestoneIndex,
    milestoneTimestamp: 1_700_000_000 + milestoneIndex * 10,
  }))
  const body = JSON.stringify({ address: query.get('address'), items, cursor: rows.length > 100 })
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
})
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))

const report: ServerReport = {
  port: Number(new URL(transports.url).port),
  barePort: (bare.address() as AddressInfo).port,
  // More pages than the cache of positions holds, so that each request is new.
  questions: randomQuestions(20_000),
  first: gatewayPath({ address: busyAddress }),
  before: gatewayPath({ address: busyAddress, ...rowAt(busyAddress, Number(depthText) - 100) }),
  foreign: gatewayPath({ address: busyAddress, ...rowAt(busyAddress, Number(depthText) + 50) }),
}
process.send?.(report)

interface Place {
  readonly milestoneIndex: number
  readonly outputId: Hex
  readonly isSpent: boolean
}

/** Random rows of random addresses other than the busy one, which most random rows would belong to. */
function randomQuestions(count: number): readonly Question[] {
  const any = connection.prepare(
    'SELECT address, "milestoneIndex", "outputId", "isSpent" FROM ledger_updates WHERE seq = ?',
  )
  return Array.from({ length: count }, () => {
    const seq = 6 * (1 + Math.floor(Math.random() * Math.floor(Number(rowsText) / 6)))
    const row = any.get(seq) as unknown as BareRow & { readonly address: Uint8Array }
    const { milestoneIndex, outputId, isSpent } = row
    const address = bytesToHex(row.address)
    const bareQuery = new URLSearchParams({
      address: address.slice(2),
      slot: String(milestoneIndex),
      outputId: bytesToHex(outputId).slice(2),
      isSpent: String(isSpent),
    })
    return { gateway: gatewayPath({ address, ...placeOf(row) }), bare: `/?${bareQuery}` }
  })
}

/** The place of the row of an address at a depth, counted from the newest row. */
function rowAt(address: Hex, depth: number): Place {
  const row = connection
    .prepare(`SELECT "milestoneIndex", "outputId", "isSpent" FROM ledger_updates
      WHERE address = ? AND class = 0 ORDER BY seq DESC LIMIT 1 OFFSET ?`)
    .get(Buffer.from(address.slice(2), 'hex'), depth)
  return placeOf(row as unknown as BareRow)
}

function placeOf({ milestoneIndex, outputId, isSpent }: BareRow): Place {
  return { milestoneIndex, outputId: bytesToHex(outputId), isSpent: isSpent === 1 }
}

function gatewayPath({ address, ...place }: { readonly address: Hex } & Partial<Place>): string {
  const cursor =
    place.outputId === undefined
      ? ''
      : `&cursor=${place.milestoneIndex}.${place.outputId}.${place.isSpent}.100`
  return `/api/explorer/v2/ledger/updates/by-address/${addressText(address)}?pageSize=100&sort=newest${cursor}`
}

function unwrap<T>(result: Result<T, object>): T {
  if (!result.ok) throw new Error(`unexpected error: ${JSON.stringify(result.error)}`)
  return result.value
}
