import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeCursor, encodeCursor } from '../../src/feed/cursor.ts'
import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { indexOf } from '../../src/protocol/ids.ts'
import type { BasicOutput } from '../../src/protocol/outputs.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import type { Store } from '../../src/store/contract.ts'
import type { UpdateClass } from '../../src/store/rows.ts'
import { noBranch } from '../../src/store/values.ts'
import { graphql } from '../support/client.ts'
import { openedStore } from '../support/databases.ts'
import { type ModelRow, sortEntries } from '../support/log-store.ts'
import { listOf, type PageArguments, pageOf } from '../support/page-model.ts'
import { createRandom } from '../support/random.ts'
import { restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  user,
  users,
} from '../support/wallet.ts'

/** Pages are read while transactions are booked and slots committed. Afterwards every response is compared with the whole log. */

const payments = 240
const minCommits = 6
const userIndices = [1, 2, 3] as const
const sorts = ['OLDEST', 'NEWEST'] as const
const classes = ['OWNED', 'OWNED', 'MENTIONED'] as const
const random = createRandom(4_711)
let gateway: TestGateway
let logId: Hex
/** The database of the gateway, which knows the branches. */
let store: Store
/** The newest position of the log that a response has reported. */
let knownTip = 0
let newestSlot = 0

beforeAll(async () => {
  gateway = await startGateway()
  await offerOf(gateway.url)
  const { tipCursor } = await ask({ address: addressOf(user(1)) })
  const tip = decodeCursor(tipCursor, 'tip')
  logId = tip.ok ? tip.value.logId : '0x'
  store = await openedStore(gateway.databaseUrl)
})
afterAll(async () => {
  await store.close()
  await gateway.close()
})

test('no page and no page sequence misses or repeats a row', async () => {
  const start = await committedSlot()
  let isOver = false
  const during = async <T>(ask: () => Promise<T>): Promise<T[]> => {
    const answers: T[] = []
    while (!isOver) answers.push(await ask())
    return answers
  }
  const asking = Promise.all([during(requestPage), during(walkConnection), during(walkRest)])
  const coins = await makePayments()
  const last = slotNow((await offerOf(gateway.url)).network)
  const isCommitted = async () => (await committedSlot()) >= Math.max(last, start + minCommits)
  await until(isCommitted, { what: 'the last slot is committed', deadlineMs: 120_000 })
  isOver = true
  const [pages, ...walks] = await asking

  const log = await modelOf(coins)
  // Each payment spends one output and creates at least one. The exact number is random, because all requests share one generator.
  expect(log.length).toBeGreaterThan(payments * 2)
  expect([pages.length, ...walks.map((some) => some.length)].filter((n) => n < 10)).toEqual([])
  const seqs = log.map(({ seq }) => seq)
  const cursors = await cursorsAt(seqs)
  const cursorOf = (row: ModelRow | undefined) => (row ? cursors[seqs.indexOf(row.seq)] : null)
  for (const page of pages) expect(page.answer).toEqual(expectedPage(log, page, cursorOf))
  for (const walk of walks.flat()) expect(listsDuring(log, walk)).toContainEqual(walk.rows)
}, 240_000)

/** An output of this test or of the genesis, with the transactions that created and spent it. */
interface Coin {
  readonly outputId: OutputId
  readonly output: BasicOutput
  readonly owner: number
  /** The user in its sender feature. */
  readonly sender: number | undefined
  readonly createdBy: string | undefined
  spentBy: string | undefined
}

/** Submits payments, each of which spends an earlier output, and returns all outputs. */
async function makePayments(): Promise<Coin[]> {
  const coins = await genesisCoins()
  for (let sent = 0; sent < payments; sent++) {
    const offer = await offerOf(gateway.url)
    const spendable = coins.filter(
      (coin) => coin.spentBy === undefined && userIndices.some((owner) => owner === coin.owner),
    )
    const coin = oneOf(spendable)
    const made = partsOf(coin)
    const outputs = made.map(({ output }) => output)
    const creationSlot = slotNow(offer.network)
    const spending = { spend: coin.outputId, key: user(coin.owner), outputs, creationSlot }
    const { payload, transactionId, created } = paymentOf(offer.network, spending)
    await acceptedId(await post(gateway.url, blockOf(offer, payload).bytes))
    coin.spentBy = transactionId
    made.forEach((part, i) => {
      const outputId = present(created[i], 'created output')
      coins.push({ ...part, outputId, createdBy: transactionId, spentBy: undefined })
    })
  }
  return coins
}

async function genesisCoins(): Promise<Coin[]> {
  const owned = await Promise.all(
    users.map(async (key, owner) =>
      (await genesisOutputs(gateway.url, key)).map((outputId): Coin => {
        const output = ownedBy(key, 1_000_000_000n)
        return {
          outputId,
          output,
          owner,
          sender: undefined,
          createdBy: undefined,
          spentBy: undefined,
        }
      }),
    ),
  )
  return owned.flat()
}

/** Returns one to three outputs for random users, some with the spender as their sender. */
function partsOf({
  output: { amount },
  owner: spender,
}: Coin): Pick<Coin, 'output' | 'owner' | 'sender'>[] {
  const count = amount > 10_000_000n ? random.between(1, 3) : 1
  const part = amount / BigInt(count)
  return Array.from({ length: count }, (_, i) => {
    const owner = oneOf(userIndices)
    const sender = random.between(0, 2) === 0 ? spender : undefined
    const address = { type: 0, pubKeyHash: user(spender).publicKeyHash } as const
    const plain = ownedBy(user(owner), i === 0 ? amount - part * BigInt(count - 1) : part)
    const output = {
      ...plain,
      features: sender === undefined ? [] : [{ type: 0, address } as const],
    }
    return { output, owner, sender }
  })
}

/** A request to the connection `ledgerUpdates` and its response. */
interface Page {
  readonly owner: number
  readonly class: UpdateClass
  readonly page: PageArguments
  /** The position of the log when the page was read. */
  readonly tip: number
  readonly answer: object
}

const pageQuery = /* GraphQL */ `
  query (
    $address: String!, $first: Int, $after: String, $last: Int, $before: String,
    $sort: Sort, $startMilestoneIndex: UInt32, $class: UpdateClass
  ) {
    ledgerUpdates(
      address: $address, first: $first, after: $after, last: $last, before: $before,
      sort: $sort, startMilestoneIndex: $startMilestoneIndex, class: $class
    ) {
      nodes { seq ordinal outputId isSpent milestoneIndex }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      totalCount
      tipCursor
    }
  }
`

async function ask(variables: object) {
  const { data, errors } = await graphql(gateway.url, pageQuery, variables)
  expect(errors).toBeUndefined()
  return data.ledgerUpdates
}

/** Requests a page with random arguments. */
async function requestPage(): Promise<Page> {
  const owner = oneOf(userIndices)
  const updateClass = oneOf(classes)
  const page: PageArguments = {
    sort: oneOf(sorts),
    ...maybe('startMilestoneIndex', () => random.between(0, newestSlot + 3)),
    ...maybe('first', () => random.between(0, 20)),
    ...maybe('last', () => random.between(0, 20)),
    ...maybe('after', () => random.between(0, knownTip)),
    ...maybe('before', () => random.between(0, knownTip)),
  }
  const [after, before] = await cursorsAt([page.after ?? 0, page.before ?? 0])
  const { tipCursor, ...answer } = await ask({
    ...page,
    address: addressOf(user(owner)),
    class: updateClass,
    ...(page.after !== undefined && { after }),
    ...(page.before !== undefined && { before }),
  })
  return { owner, class: updateClass, page, tip: positionOf(tipCursor), answer }
}

/** A list that was read page by page from one end to the other. */
interface Walk {
  readonly owner: number
  readonly class: UpdateClass
  readonly list: Pick<PageArguments, 'sort' | 'startMilestoneIndex'>
  readonly rows: readonly object[]
  /** Positions of the log before and after the page that determines where the list ends among new rows. */
  readonly from: number
  readonly to: number
}

async function walkConnection(): Promise<Walk> {
  const owner = oneOf(userIndices)
  const updateClass = oneOf(classes)
  const list = anyList()
  const isForward = random.between(0, 1) === 0
  const size = random.between(5, 60)
  const rows: object[] = []
  const tips: number[] = []
  let cursor: string | undefined
  let more = true
  while (more) {
    const { nodes, pageInfo, tipCursor } = await ask({
      ...list,
      ...(isForward ? { first: size, after: cursor } : { last: size, before: cursor }),
      address: addressOf(user(owner)),
      class: updateClass,
    })
    tips.push(positionOf(tipCursor))
    if (isForward) rows.push(...nodes.map(factOf))
    else rows.unshift(...nodes.map(factOf))
    more = isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage
    cursor = isForward ? pageInfo.endCursor : pageInfo.startCursor
  }
  // Towards new rows, the last page determines the end of the list; away from them, the first page determines its start.
  const towardsNew = (list.sort === 'OLDEST') === isForward
  const tip = present(towardsNew ? tips.at(-1) : tips[0], 'tip')
  return { owner, class: updateClass, list, rows, from: tip, to: tip }
}

async function walkRest(): Promise<Walk> {
  const owner = oneOf(userIndices)
  const list = anyList()
  const sort = list.sort.toLowerCase()
  const { startMilestoneIndex: start } = list
  const path = `${gateway.url}/api/explorer/v2/ledger/updates/by-address/${addressOf(user(owner))}`
  const rows: object[] = []
  const tips = [await tipNow()]
  let query = `pageSize=${random.between(5, 60)}&sort=${sort}`
  if (start !== undefined) query += `&startMilestoneIndex=${start}`
  let cursor: string | undefined
  do {
    const answer = await restJson(`${path}?${query}`)
    tips.push(await tipNow())
    rows.push(...answer.items.map(factOf))
    cursor = answer.cursor
    query = `cursor=${cursor}&sort=${sort}`
  } while (cursor !== undefined)
  const [from = 0, to = 0] = list.sort === 'OLDEST' ? tips.slice(-2) : tips
  return { owner, class: 'OWNED', list, rows, from, to }
}

function anyList(): Walk['list'] {
  const start = maybe('startMilestoneIndex', () => random.between(0, newestSlot + 3))
  return { sort: oneOf(sorts), ...start }
}

async function tipNow(): Promise<number> {
  const { tipCursor } = await ask({ address: addressOf(user(1)), first: 0 })
  return positionOf(tipCursor)
}

function positionOf(cursor: string): number {
  const position = decodeCursor(cursor, 'tip')
  const seq = position.ok ? position.value.seq : Number.NaN
  knownTip = Math.max(knownTip, seq)
  return seq
}

async function cursorsAt(seqs: readonly number[]): Promise<string[]> {
  const branches = await Promise.all(seqs.map((seq) => store.read.branchesAt([seq])))
  return seqs.map((seq, i) => encodeCursor({ logId, seq, branch: branches[i]?.[0] ?? noBranch }))
}

async function committedSlot(): Promise<number> {
  const { status } = await restJson(`${gateway.url}/api/core/v3/info`)
  newestSlot = status.latestFinalizedSlot
  return newestSlot
}

/** Computes the whole log from the submitted payments and their slots, without reading any pages. */
async function modelOf(coins: readonly Coin[]): Promise<ModelRow[]> {
  const spenders = new Set(coins.flatMap(({ createdBy }) => createdBy ?? []))
  const slots = new Map<string, number>()
  for (const id of spenders) {
    const { data } = await graphql(gateway.url, `{ transaction(id: "${id}") { state slot } }`)
    expect(data.transaction.state).toBe('FINALIZED')
    slots.set(id, data.transaction.slot)
  }
  const entriesBySlot = new Map<number, Entry[]>()
  const addEntries = (coin: Coin, id: string | undefined, isSpent: boolean) => {
    if (id === undefined) return
    const slot = present(slots.get(id), 'slot')
    entriesBySlot.set(slot, [...(entriesBySlot.get(slot) ?? []), ...entriesOf(coin, isSpent)])
  }
  for (const coin of coins) {
    addEntries(coin, coin.createdBy, false)
    addEntries(coin, coin.spentBy, true)
  }
  const rows: ModelRow[] = []
  const add = (seq: number, milestoneIndex: number, entry: Entry) => {
    const isSameList = (row: ModelRow) => row.address === entry.address && row.class === entry.class
    const ordinal = 1 + rows.filter(isSameList).length
    // `cursorsAt` reads the branches from the database.
    rows.push({ ...entry, seq, branch: noBranch, milestoneIndex, ordinal })
  }
  for (const coin of coins.filter(({ createdBy }) => createdBy === undefined)) {
    for (const entry of entriesOf(coin, false)) add(1 + indexOf(coin.outputId), 0, entry)
  }
  let seq = genesisRows
  for (const slot of [...entriesBySlot.keys()].sort((a, b) => a - b)) {
    for (const entry of sortEntries(entriesBySlot.get(slot) ?? [])) add(++seq, slot, entry)
  }
  return rows
}

/** Outputs of the genesis: the faucet, two accounts and ten users. */
const genesisRows = 13

type Entry = Parameters<typeof sortEntries>[0][number]

function entriesOf({ outputId, owner, sender }: Coin, isSpent: boolean): Entry[] {
  const owned: Entry = {
    address: keyOf(owner),
    class: 'OWNED',
    roles: sender === owner ? ['OWNER', 'SENDER'] : ['OWNER'],
    outputId,
    isSpent,
  }
  if (sender === undefined || sender === owner) return [owned]
  return [owned, { ...owned, address: keyOf(sender), class: 'MENTIONED', roles: ['SENDER'] }]
}

function keyOf(userIndex: number): Hex {
  return `0x00${user(userIndex).publicKeyHash.slice(2)}`
}

function rowsAt(
  log: readonly ModelRow[],
  tip: number,
  { owner, class: updateClass }: Pick<Walk, 'owner' | 'class'>,
) {
  const address = keyOf(owner)
  return log.filter((row) => row.seq <= tip && row.address === address && row.class === updateClass)
}

function expectedPage(
  log: readonly ModelRow[],
  requested: Page,
  cursorOf: (row: ModelRow | undefined) => string | null | undefined,
): object {
  const rows = rowsAt(log, requested.tip, requested)
  const { rows: some, ...pageInfo } = pageOf(rows, requested.page)
  return {
    nodes: some.map((row) => ({ ...factOf(row), seq: `${row.seq}`, ordinal: `${row.ordinal}` })),
    pageInfo: { ...pageInfo, startCursor: cursorOf(some[0]), endCursor: cursorOf(some.at(-1)) },
    totalCount: `${rows.length}`,
  }
}

/** Returns the list at each commit between two positions. A walk must equal one of them. */
function listsDuring(log: readonly ModelRow[], { from, to, list, ...walk }: Walk): object[][] {
  const ends = log.filter((row, i) => row.milestoneIndex !== log[i + 1]?.milestoneIndex)
  const tips = ends.map(({ seq }) => seq).filter((seq) => seq > from && seq <= to)
  return [from, ...tips].map((tip) => listOf(rowsAt(log, tip, walk), list).map(factOf))
}

function factOf({
  outputId,
  isSpent,
  milestoneIndex,
}: Pick<ModelRow, 'outputId' | 'isSpent' | 'milestoneIndex'>) {
  return { outputId, isSpent, milestoneIndex }
}

function oneOf<T>(list: readonly T[]): T {
  const element = list[random.between(0, list.length - 1)]
  return present(element, 'element')
}

/** Returns an argument with probability one half. */
function maybe<Name extends string>(name: Name, draw: () => number): { [N in Name]?: number } {
  const value = draw()
  return random.between(0, 1) === 0 ? {} : ({ [name]: value } as { [N in Name]?: number })
}
