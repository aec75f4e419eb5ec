import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccountEntry, accountTrieChanges } from '../../src/ledger/accounts.ts'
import { outputTrieChanges } from '../../src/ledger/state-root.ts'
import { emptyTrie, trieRoot, updateTrie } from '../../src/ledger/trie.ts'
import { namedRoles } from '../../src/ledger/updates.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { addressKey, identifyTransaction, indexOf } from '../../src/protocol/ids.ts'
import { type BasicOutput, Output } from '../../src/protocol/outputs.ts'
import type {
  AccountId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../src/protocol/primitives.ts'
import { decode, print } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'
import type { Store } from '../../src/store/contract.ts'
import type { OutputRow } from '../../src/store/rows.ts'
import {
  balancesAt,
  emptyBalance,
  type ModelOutput,
  ownerInSlot,
} from '../support/balance-model.ts'
import { graphql } from '../support/client.ts'
import { openedStore } from '../support/databases.ts'
import {
  firstSlot,
  fundFromFaucet,
  type LedgerWorld,
  type Moment,
  startWorld,
  worldParameters,
} from '../support/ledger-world.ts'
import { logTables } from '../support/log-tables.ts'
import {
  addressOfChain,
  type MadeTransaction,
  makeTransaction,
  type Plan,
  type Player,
  playerOf,
} from '../support/player.ts'
import { plain } from '../support/player-coins.ts'
import { anyMove, moves } from '../support/player-moves.ts'
import { createRandom, type Random } from '../support/random.ts'
import { restJson } from '../support/rest.ts'
import { startGateway } from '../support/start-gateway.ts'
import { allTokens } from '../support/store-rows.ts'
import { keptRoots } from '../support/trie-pages.ts'
import { untilCommitted } from '../support/wallet.ts'

/**
 * Many players at once, each with a random sequence of moves. Some transactions are submitted before their parent, or after a copy
 * with the signatures of another key. After every slot the test compares all balances with a model, a list of outputs, and at the
 * end the whole log and all derived values of the database.
 */

const sequences = 200
const rounds = 8
const { minCommittableAge } = worldParameters

/** A player with all outputs that the player has owned and the moves made so far. */
interface Seat {
  readonly player: Player
  readonly random: Random
  /** Decides how moves are submitted. It is separate from `random`, so that it does not change the sequence of moves. */
  readonly chance: Random
  readonly outputIds: OutputId[]
  readonly done: { readonly name: string; readonly transactionId: TransactionId }[]
}

const seats = Array.from({ length: sequences }, (_, n): Seat => {
  return {
    player: playerOf(n),
    random: createRandom(n + 1),
    chance: createRandom(n + 1_001),
    outputIds: [],
    done: [],
  }
})
const rivals: TransactionId[] = []
let wrongCopies = 0
let world: LedgerWorld

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

test('the ledger equals the model after random moves', async () => {
  const funds = seats.map(({ player }) => plain(player.addresses[0], 100_000_000n))
  await fundFromFaucet(world, funds)
  world.outputs.forEach(({ outputId }, n) => {
    present(seats[n], 'a seat').outputIds.push(outputId)
  })
  await world.pass(minCommittableAge)
  for (let round = 0; round < rounds; round++) {
    const moment = await world.moment()
    await Promise.all(seats.map((seat) => play(seat, moment)))
    await compareBalances(await world.pass(1 + (round % 2)))
  }
  // No more moves, but timelocks end and outputs expire.
  for (let idle = 0; idle < 4; idle++) await compareBalances(await world.pass(3))
  await expectVerdicts()
  await compareHistory(await world.pass(1))
  await compareLogs()
  await compareDerivedValues()
}, 300_000)

test('a gateway that follows the ledger writes the same log', async () => {
  const { url, databaseUrl } = world.gateway
  const env = { LEDGER: 'upstream', UPSTREAM_URLS: url }
  const follower = await startGateway({ env })
  const { milestoneIndex } = await restJson(`${url}/api/gateway/v1/log`)
  // It follows some hundred slots and validates every transaction in them.
  await untilCommitted(follower.url, milestoneIndex, 240_000)
  const [kept, followed] = await Promise.all(
    [databaseUrl, follower.databaseUrl].map((one) => logTables(one, milestoneIndex)),
  )
  expect(followed).toEqual(kept)
  await follower.close()
}, 300_000)

/** Makes one random move of a player, if a move is possible. */
async function play(seat: Seat, moment: Moment): Promise<void> {
  const coins = seat.outputIds
    .map((id) => present(world.output(id), 'an output of the world'))
    .filter(({ spentSlot }) => spentSlot === undefined)
  const plan = anyMove({ ...seat, moment, coins })
  if (plan === undefined) return
  const made = makeTransaction(seat.player, moment, plan)
  if (seat.random.between(0, 4) === 0) await expectSimulated(plan, made)
  const next = followUp(seat, moment, made)
  if (next !== undefined) await world.submit(moment, next.payload)
  if (seat.chance.between(0, 4) === 0) await submitWrong(seat, moment, made.payload)
  await world.submit(moment, made.payload)
  if (seat.chance.between(0, 9) === 0) await submitWrong(seat, moment, made.payload)
  if (seat.random.between(0, 9) === 0) await submitRival(seat, moment, plan)
  noteDone(seat, moment, { name: plan.name, made })
  if (next !== undefined) noteDone(seat, moment, { name: 'followUp', made: next })
}

function noteDone(
  seat: Seat,
  moment: Moment,
  { name, made }: { readonly name: string; readonly made: MadeTransaction },
): void {
  world.note(moment.slot, made)
  seat.outputIds.push(...made.created.map(({ outputId }) => outputId))
  const { transactionId } = identifyTransaction(made.payload.transaction)
  seat.done.push({ name, transactionId })
}

/** Sometimes returns a transaction that spends an output of another one, to be submitted before it. */
function followUp(
  { player, chance }: Seat,
  moment: Moment,
  { created }: MadeTransaction,
): MadeTransaction | undefined {
  const rest = created.at(-1)
  const by = player.addresses[0]
  // The last output holds the remaining base tokens and belongs to the player's first key.
  const isRest = rest?.output.type === 0 && addressKeyOfOwner(rest.output) === addressKey(by)
  if (!isRest || chance.between(0, 7) > 0) return undefined
  const coin = { ...rest, bookedSlot: moment.slot }
  const outputs = [plain(player.addresses[1], rest.output.amount)]
  const spends = [{ coin, by }]
  return makeTransaction(player, moment, {
    name: 'followUp',
    spends,
    outputs,
    credits: [],
    rewards: [],
  })
}

function addressKeyOfOwner({ unlockConditions, features }: BasicOutput): Hex | undefined {
  const [owner, ...others] = unlockConditions
  const isPlain = owner?.type === 0 && others.length === 0 && features.length === 0
  return isPlain ? addressKey(owner.address) : undefined
}

/** Submits the same transaction with the signature of another key. */
async function submitWrong(
  { chance }: Seat,
  moment: Moment,
  payload: SignedTransaction,
): Promise<void> {
  const key = playerOf(sequences + chance.between(0, 9)).keys[0]
  const { signingHash } = identifyTransaction(payload.transaction)
  const unlocks = payload.unlocks.map(
    (unlock): Unlock =>
      unlock.type === 0 ? { type: 0, signature: key.sign(signingHash) } : unlock,
  )
  // Two signature unlocks of one key would be malformed.
  if (unlocks.filter(({ type }) => type === 0).length !== 1) return
  await world.submit(moment, { ...payload, unlocks })
  wrongCopies += 1
}

/** Expects the gateway to simulate a valid transaction as accepted. */
async function expectSimulated(plan: Plan, { payload }: MadeTransaction): Promise<void> {
  const query = `query ($json: JSON) { verifyTransaction(input: { json: $json }) {
    outcome refusal { message } failure { name } } }`
  const json = print(SignedTransaction, payload)
  const { data } = await graphql(world.gateway.url, query, { json })
  const accepted = { outcome: 'ACCEPTED', refusal: null, failure: null }
  expect([plan.name, data.verifyTransaction]).toEqual([plan.name, accepted])
}

/** Submits a later transaction that spends the same outputs. */
async function submitRival({ player }: Seat, moment: Moment, plan: Plan): Promise<void> {
  const { payload } = makeTransaction(player, { ...moment, slot: moment.slot - 1 }, plan)
  await world.submit(moment, payload)
  rivals.push(identifyTransaction(payload.transaction).transactionId)
}

/** Returns every address that has a role in an output or is the address of a chain. */
function addresses(): Hex[] {
  const keys = new Set<Hex>()
  for (const output of world.outputs) {
    for (const { address } of namedRoles(output.output)) keys.add(addressKey(address))
    const own = addressOfChain(output)
    if (own !== undefined) keys.add(own)
  }
  return [...keys]
}

async function compareBalances(slot: SlotIndex): Promise<void> {
  const expected = balancesAt(world.outputs, slot, minCommittableAge)
  const fields = `balance { milestoneIndex available timelocked storageDeposit expiring outputCount }
    nativeTokens { nodes { tokenId available timelocked expiring } }`
  const keys = addresses()
  const answers = await queryEach(keys, (key) => `address(address: "${bech32(key)}") { ${fields} }`)
  for (const [i, key] of keys.entries()) {
    const answer = answers[i]
    const { total: _, tokens, outputs, ...parts } = expected.get(key) ?? emptyBalance()
    const balance = { ...texts(parts), outputCount: `${outputs}`, milestoneIndex: slot }
    expect([key, answer.balance]).toEqual([key, balance])
    const held = Object.entries(tokens).map(([tokenId, amounts]) => ({
      tokenId,
      ...hexes(amounts),
    }))
    expect(answer.nativeTokens.nodes).toEqual(held.sort((a, b) => (a.tokenId < b.tokenId ? -1 : 1)))
  }
}

/** Queries the same field for each element of a list, some elements in one operation. */
async function queryEach<T>(list: readonly T[], field: (one: T) => string) {
  // biome-ignore lint/suspicious/noExplicitAny: the caller chooses the fields
  const answers: any[] = []
  for (let at = 0; at < list.length; at += atOnce) {
    const fields = list.slice(at, at + atOnce).map((one, i) => `a${i}: ${field(one)}`)
    const { data, errors } = await graphql(world.gateway.url, `{ ${fields.join('\n')} }`)
    expect(errors).toBeUndefined()
    answers.push(...fields.map((_, i) => data[`a${i}`]))
  }
  return answers
}

/** An operation has at most 300 aliases. */
const atOnce = 10
const slotsAtOnce = 25

function bech32(key: Hex): string {
  return encodeBech32(worldParameters.bech32Hrp, hexToBytes(key))
}

/** Expects all moves to be final and of all kinds, and all rivals to have failed. */
async function expectVerdicts(): Promise<void> {
  const done = seats.flatMap((seat) => seat.done)
  const ids = [...done.map(({ transactionId }) => transactionId), ...rivals]
  const states = await queryEach(ids, (id) => `transaction(id: "${id}") { state failure { name } }`)
  const verdicts = done.map(({ name }, i) => [name, states[i].state, states[i].failure] as const)
  expect(verdicts.filter(([, state]) => state !== 'FINALIZED')).toEqual([])
  expect(new Set(done.map(({ name }) => name))).toEqual(
    new Set([...Object.keys(moves), 'followUp']),
  )
  expect(done.filter(({ name }) => name === 'followUp').length).toBeGreaterThan(50)
  expect(wrongCopies).toBeGreaterThan(50)
  expect(rivals.length).toBeGreaterThan(50)
  for (const { state, failure } of states.slice(done.length)) {
    expect([state, failure?.name]).toEqual(['FAILED', 'ConflictRejected'])
  }
}

/** Compares the total balances of some addresses at the end of every slot since the first one. */
async function compareHistory(slot: SlotIndex): Promise<void> {
  const slots = Array.from({ length: slot + 1 }, (_, i) => i).slice(firstSlot)
  const keys = addresses().filter((_, i) => i % 20 === 0)
  for (let from = 0; from < slots.length; from += slotsAtOnce) {
    const some = slots.slice(from, from + slotsAtOnce)
    const totals = await queryEach(keys, (key) => {
      const fields = some.map((at) => `s${at}: totalAt(milestoneIndex: ${at})`)
      return `address(address: "${bech32(key)}") { ${fields.join(' ')} }`
    })
    for (const at of some) {
      const expected = balancesAt(world.outputs, at, minCommittableAge)
      const actual = totals.map((answer) => BigInt(answer[`s${at}`]))
      expect(actual).toEqual(keys.map((key) => expected.get(key)?.total ?? 0n))
    }
  }
}

interface Row {
  readonly milestoneIndex: SlotIndex
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** Compares the updates of every address, in their order. */
async function compareLogs(): Promise<void> {
  const rows = new Map<string, Row[]>()
  for (const output of world.outputs) {
    addUpdate(rows, output, false)
    if (output.spentSlot !== undefined) addUpdate(rows, output, true)
  }
  const keys = addresses()
  for (const updateClass of ['OWNED', 'MENTIONED']) {
    const pages = await queryEach(keys, (key) => {
      const list = `class: ${updateClass}, sort: OLDEST, first: 1000`
      return `ledgerUpdates(address: "${bech32(key)}", ${list}) { nodes { milestoneIndex outputId isSpent } }`
    })
    for (const [i, key] of keys.entries()) {
      const expected = rows.get(updateClass + key) ?? []
      expect([key, pages[i].nodes]).toEqual([key, expected.sort(compareRows)])
    }
  }
}

/** Adds an update to the lists of the owner and of all other addresses of an output. */
function addUpdate(rows: Map<string, Row[]>, model: ModelOutput, isSpent: boolean): void {
  const { output, outputId, bookedSlot, spentSlot } = model
  const milestoneIndex = isSpent ? present(spentSlot, 'a slot') : bookedSlot
  const owner = ownerInSlot(output, milestoneIndex, minCommittableAge)
  for (const key of new Set(namedRoles(output).map(({ address }) => addressKey(address)))) {
    const list = (key === owner ? 'OWNED' : 'MENTIONED') + key
    rows.set(list, [...(rows.get(list) ?? []), { milestoneIndex, outputId, isSpent }])
  }
}

function compareRows(a: Row, b: Row): number {
  const [idOfA, idOfB] = [a, b].map(({ outputId }) => outputId.slice(0, 74))
  if (a.milestoneIndex !== b.milestoneIndex) return a.milestoneIndex - b.milestoneIndex
  if (idOfA !== idOfB) return String(idOfA) < String(idOfB) ? -1 : 1
  return indexOf(a.outputId) - indexOf(b.outputId) || Number(a.isSpent) - Number(b.isSpent)
}

/** Compares the derived values of the database with values computed from all its outputs, including the genesis. */
async function compareDerivedValues(): Promise<void> {
  const store = await openedStore(world.gateway.databaseUrl)
  try {
    const { read } = store
    const { slot } = await read.latestMilestone()
    const ids = new Set(world.outputs.map(({ outputId }) => outputId))
    for (let after = 0; ; ) {
      const range = { classes: ['OWNED'], before: Number.MAX_SAFE_INTEGER, limit: 1000 } as const
      const rows = await read.updates({ ...range, after, order: 'ascending' })
      for (const { outputId } of rows) ids.add(outputId)
      after = rows.at(-1)?.seq ?? after
      if (rows.length < 1000) break
    }
    const rows = await read.outputs([...ids])
    const outputs = rows.map(decoded)
    await compareTries(read, rows)
    const balances = balancesAt(outputs, slot, minCommittableAge)
    for (const [key, { total, tokens, ...parts }] of balances) {
      expect(await read.balance(key)).toEqual({ slot, balance: parts })
      const owned = await read.tokenBalances(key, allTokens, { order: 'ascending', limit: 1000 })
      const byId = owned.map(({ tokenId, balance }) => [tokenId, balance])
      expect(Object.fromEntries(byId)).toEqual(tokens)
      expect(await read.totalAt(key, slot)).toBe(total)
    }
    const { ranges } = await read.balanceRanges()
    const totals = [...balances.values()].map(({ total }) => total)
    const inRange = (exponent: number) =>
      totals.filter((total) => total.toString().length === exponent + 1)
    for (const { exponent, addresses: count, total } of ranges) {
      expect(count).toBe(inRange(exponent).length)
      expect(total).toBe(inRange(exponent).reduce((sum, one) => sum + one, 0n))
    }
    expect(ranges.reduce((sum, range) => sum + range.addresses, 0)).toBe(totals.length)
    expect(totals.reduce((sum, total) => sum + total, 0n)).toBe(worldParameters.tokenSupply)
  } finally {
    await store.close()
  }
}

function decoded(row: OutputRow): ModelOutput {
  const output = decode(Output, row.bytes)
  return { ...row, output: present(output.ok ? output.value : undefined, 'an output') }
}

function texts(amounts: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, `${amount}`]))
}

function hexes(amounts: object): Record<string, string> {
  const entries = Object.entries(amounts).map(([name, amount]) => [
    name,
    `0x${amount.toString(16)}`,
  ])
  return Object.fromEntries(entries)
}

/** Compares the roots of the tries in the database with those of tries built at once. */
async function compareTries(read: Store['read'], rows: readonly OutputRow[]): Promise<void> {
  const { slot } = await read.latestMilestone()
  const unspent = rows.filter(({ spentSlot }) => spentSlot === undefined || spentSlot > slot)
  const created = unspent.map(({ outputId }) => outputId)
  const entries = new Map<AccountId, AccountEntry>()
  for (let after: AccountId | undefined; ; ) {
    const page = await read.accountsAt(slot, after)
    if (page === undefined) break
    for (const { accountId, entry } of page.accounts) entries.set(accountId, entry)
    after = page.last
  }
  expect(await keptRoots(read)).toEqual({
    outputs: bytesToHex(
      trieRoot(updateTrie(emptyTrie, outputTrieChanges({ created, consumed: [] }))),
    ),
    accounts: bytesToHex(trieRoot(updateTrie(emptyTrie, accountTrieChanges(entries)))),
  })
}
