import { expect } from 'vitest'
import { compareLogEntries, slotEntries } from '../../src/ledger/updates.ts'
import { present } from '../../src/lib/assert.ts'
import { hexToBytes } from '../../src/lib/hex.ts'
import { silentLog } from '../../src/lib/log.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { Ed25519Address } from '../../src/protocol/addresses.ts'
import { Block } from '../../src/protocol/block.ts'
import { Sender } from '../../src/protocol/features.ts'
import { outputId } from '../../src/protocol/ids.ts'
import { BasicOutput, Output } from '../../src/protocol/outputs.ts'
import type { BlockId, OutputId, TransactionId } from '../../src/protocol/primitives.ts'
import { decode, encode } from '../../src/protocol/schema/schema.ts'
import { AddressUnlock } from '../../src/protocol/unlock-conditions.ts'
import type { IncomingBlock, Store } from '../../src/store/contract.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createReader } from '../../src/store/reader.ts'
import { defaultDatabase, openedStore } from './databases.ts'
import { type Answer, askSchema } from './graphql.ts'
import { unwrap } from './log-store.ts'
import { createRandom } from './random.ts'
import { randomOutput } from './random-outputs.ts'
import {
  blockIdOf,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from './store-rows.ts'
import { loadVectors, type Vector } from './vectors.ts'

/** A ledger for tests of lists and of the references between ledger objects. */

const slots = 8
const kinds = ['basic', 'validation', 'candidacy', 'tagged', 'transaction'] as const
const time = { genesisSlot: 0, genesisUnixTimestamp: 0n, slotDurationInSeconds: 10 }
const parameters = { ...developmentParameters(0), ...time, bech32Hrp: 'tst' }

/** Two addresses that the transactions of the world pay and spend from. Each is the sender of the outputs of the other. */
export const parties: readonly [Ed25519Address, Ed25519Address] = [partyOf(1), partyOf(2)]

function partyOf(n: number): Ed25519Address {
  return { type: Ed25519Address.code, pubKeyHash: testId('Party', 32, n) }
}

function paymentTo(address: Ed25519Address): Output {
  const sender = present(
    parties.find((one) => one !== address),
    'the other',
  )
  return {
    ...{ type: BasicOutput.code, amount: 1_000_000n, mana: 0n },
    unlockConditions: [{ type: AddressUnlock.code, address }],
    features: [{ type: Sender.code, address: sender }],
  }
}

/** A block with its number in the order of arrival. */
export interface Kept extends IncomingBlock {
  readonly inbox: number
}

const carrying = vectorBytes('transactions')
const plain = vectorBytes('blocks')

/** A ledger with blocks of every kind and state in eight slots. A test can add slots. */
export interface ListWorld {
  readonly store: Store
  /** The blocks in the order of arrival. */
  readonly kept: readonly Kept[]
  /** The ids of all outputs, spent and unspent. */
  readonly outputIds: readonly OutputId[]
  /** The newest committed slot. */
  committed(): number
  /** Books `count` blocks in the next slot and commits it. */
  commitSlot(count: number): Promise<void>
  ask(source: string): Promise<Answer>
  /** Executes a query that must have no errors, and counts its statements. */
  askCounted(
    source: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly answer: Answer; readonly statements: number }>
  close(): Promise<void>
}

/** Opens the ledger on the usual database. */
export async function openListWorld(): Promise<ListWorld> {
  const database = await defaultDatabase().create()
  const random = createRandom(11)
  const store = await openedStore(database.url)
  const opened = await openDatabase({ url: database.url, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  const reads = opened.value
  const { term } = unwrap(await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 }))
  await store.write.initialize(term, testGenesis({ commit: slotCommit(0) }))
  const kept: Kept[] = []
  const outputIds = [outputIdOf(0)]
  const owned: { readonly outputId: OutputId; readonly output: Output }[] = []
  let committed = 0

  async function commitSlot(count: number): Promise<void> {
    const slot = committed + 1
    const blocks = Array.from({ length: count }, (_, i): Kept => {
      const n = kept.length + i
      const kind = kinds[n % kinds.length] ?? 'basic'
      const refersTo = [n - 1, n - 3]
        .filter((parent) => parent >= 0)
        .map((parent) => blockIdOf(parent))
      const bytes = kind === 'transaction' ? carrying(n) : plain(n)
      return {
        ...incomingBlock(n, {
          kind,
          slot,
          issuerId: testId('AccountId', 32, n % 3),
          // Some blocks have equal issuing times.
          issuingTime: 1_700_000_000_000_000_000n + BigInt(slot * 100 + random.between(0, 6)),
          bytes: withParents(bytes, refersTo),
          transactionId: kind === 'transaction' ? transactionIdOf(n - (n % 10)) : undefined,
          parents: refersTo,
        }),
        inbox: n + 1,
      }
    })
    const others = [0, 1, 2, 3].map((n) =>
      createdOutput(0, {
        outputId: otherOutputIdOf(slot, n),
        bookedSlot: slot,
        bytes: encode(Output, randomOutput(random, slot, 4)),
      }),
    )
    outputIds.push(outputIdOf(slot), ...others.map(({ outputId }) => outputId))
    kept.push(...blocks)
    await store.write.acceptBlocks(blocks)
    const carried = new Map(blocks.map((block) => [block.transactionId, block]))
    const known = await store.read.transactions(
      [...carried.keys()].filter((id) => id !== undefined),
    )
    const pending = known.filter(({ state }) => state === 'PENDING')
    const moved = pending
      .filter((_row, i) => i % 2 === 0)
      .map(({ transactionId }) => moveOf(transactionId))
    const created = moved.flatMap((one) => one.created)
    const consumed = moved.flatMap((one) => one.consumed)
    const ofParties = created.map(({ outputId, output }) =>
      createdOutput(0, { outputId, bookedSlot: slot, bytes: encode(Output, output) }),
    )
    outputIds.push(...created.map(({ outputId }) => outputId))
    unwrap(
      await store.write.book(term, {
        blocks: blocks.map(({ blockId }, i) => ({
          blockId,
          state: i % 4 === 3 ? 'DROPPED' : 'ACCEPTED',
        })),
        transactions: pending.map(({ transactionId, blockId }, i) => ({
          ...{ transactionId, blockId, slot, allotments: [] },
          state: i % 2 === 0 ? 'ACCEPTED' : 'FAILED',
          failureReason: i % 2 === 0 ? undefined : 1,
        })),
        created: [
          ...others,
          ...ofParties,
          createdOutput(slot, { bookedSlot: slot, blockId: present(blocks[0], 'block').blockId }),
        ],
        spent: [
          ...moved.flatMap(({ transactionId, consumed }) =>
            consumed.map(({ outputId }) => ({ outputId, spentSlot: slot, spentBy: transactionId })),
          ),
          ...(slot < 2
            ? []
            : [outputIdOf(slot - 1), ...[0, 3].map((n) => otherOutputIdOf(slot - 1, n))]
          ).map((outputId) => ({ outputId, spentSlot: slot, spentBy: transactionIdOf(0) })),
        ],
      }),
    )
    unwrap(await store.write.closeSlots(term, slot))
    const entries = [
      entry(slot, slot),
      ...(slot < 2 ? [] : [entry(slot - 1, slot - 1, { isSpent: true })]),
      ...(await slotEntries(parameters, slot, { created, consumed })),
    ].sort(compareLogEntries)
    unwrap(await store.write.commitSlots(term, [slotCommit(slot, entries)]))
    committed = slot
  }

  /** A transaction that creates one to three outputs of the parties, and spends up to two of their outputs. */
  function moveOf(transactionId: TransactionId) {
    const consumed = [0, 1].flatMap(() =>
      owned.length < 4 ? [] : owned.splice(random.between(0, owned.length - 1), 1),
    )
    const created = Array.from({ length: random.between(1, 3) }, (_, index) => ({
      outputId: outputId(transactionId, index),
      output: paymentTo(present(parties[random.between(0, 1)], 'a party')),
    }))
    owned.push(...created)
    return { transactionId, created, consumed }
  }

  const ask = (source: string) => askSchema({ store, parameters }, source)

  /** Executes a query on a reader that counts statements. Each query runs twice, with and without compilation. */
  async function askCounted(source: string, variables: Readonly<Record<string, unknown>>) {
    const texts: string[] = []
    const counted: Database = {
      ...reads,
      query: (sql, values) => {
        texts.push(sql)
        return reads.query(sql, values)
      },
    }
    const read = createReader(counted)
    const answer = await askSchema({ store: { ...store, read }, parameters }, source, variables)
    expect(answer.errors).toBeUndefined()
    return { answer, statements: texts.length / 2 }
  }

  async function close(): Promise<void> {
    await reads.close()
    await store.close()
    await database.remove()
  }

  for (let slot = 1; slot <= slots; slot++) await commitSlot(12)
  return {
    store,
    kept,
    outputIds,
    committed: () => committed,
    commitSlot,
    ask: (source) => ask(source),
    askCounted,
    close,
  }
}

function otherOutputIdOf(slot: number, n: number): OutputId {
  return outputIdOf(1_000 + 10 * slot + n)
}

function vectorBytes(file: string) {
  const blocks = loadVectors<Vector & { bytes: `0x${string}` }>(file)
    .map(({ bytes }) => hexToBytes(bytes))
    .filter((bytes) => bytes[89] === 0 && bytes.length < 4_000)
  return (n: number) => present(blocks[n % blocks.length], 'vector')
}

function withParents(bytes: Uint8Array, parents: readonly BlockId[]): Uint8Array {
  const block = decode(Block, bytes)
  if (!block.ok) throw new Error(block.error.code)
  const strongParents = parents.length === 0 ? [blockIdOf(9_999)] : [...parents].sort()
  return encode(Block, {
    ...block.value,
    body: { ...block.value.body, strongParents, weakParents: [], shallowLikeParents: [] },
  })
}

/** The order of the list of blocks. */
export function newestFirst(a: Kept, b: Kept): number {
  if (a.slot !== b.slot) return b.slot - a.slot
  if (a.issuingTime !== b.issuingTime) return a.issuingTime < b.issuingTime ? 1 : -1
  return b.inbox - a.inbox
}
