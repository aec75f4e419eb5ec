import type { IndexKind } from '../../ledger/index-keys.ts'
import type { Role, UpdateClass } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import { allotmentsJson } from '../json-columns.ts'
import type { BlockKind, BlockState, TransactionState } from '../rows.ts'
import {
  classToNumber,
  digits,
  digitsOf,
  indexKindToNumber,
  kindToNumber,
  rolesToMask,
} from '../values.ts'
import type { BulkTable, ColumnType, JsonValue } from './bulk.ts'

/** What bulk statements write and match, by table: the columns in their order, and how a value is written. */

/** A column as its values are written. */
interface Column<V> {
  readonly type: ColumnType
  readonly write: (value: V) => JsonValue
  /** In the database, where the rows of the program call it otherwise. */
  readonly name?: string
}

type Columns = { readonly [property: string]: Column<never> }

/** A row with these columns. */
type RowOf<C extends Columns> = {
  readonly [P in keyof C as undefined extends ValueOf<C[P]> ? never : P]: ValueOf<C[P]>
} & {
  readonly [P in keyof C as undefined extends ValueOf<C[P]> ? P : never]?: ValueOf<C[P]>
}

type ValueOf<C> = C extends Column<infer V> ? V : never

/** The rows that a description takes. */
export type RowIn<T> = T extends BulkTable<infer R> ? R : never

function table<C extends Columns>(name: string, columns: C, keyLength = 1): BulkTable<RowOf<C>> {
  const parts = Object.entries(columns).map(([property, column]) => ({
    property: property as keyof RowOf<C>,
    name: column.name ?? property,
    type: column.type,
    write: column.write as (value: unknown) => JsonValue,
  }))
  return {
    name,
    columns: parts,
    keyLength,
    valuesOf: (row) => parts.map(({ property, write }) => write(row[property])),
  }
}

const hex: Column<Hex> = { type: 'bytes', write: digits }
const bytes: Column<Uint8Array> = { type: 'bytes', write: digitsOf }
const int: Column<number> = { type: 'int', write: (value) => value }
const long: Column<number> = { type: 'long', write: (value) => value }
const amount: Column<bigint> = { type: 'amount', write: String }
const truth: Column<boolean> = { type: 'boolean', write: (value) => value }
const updateClass: Column<UpdateClass> = { type: 'int', write: classToNumber }
const roles: Column<readonly Role[]> = { type: 'int', write: rolesToMask }
const blockKind: Column<BlockKind> = { type: 'int', write: kindToNumber }
const indexKind: Column<IndexKind> = { type: 'int', write: indexKindToNumber }
const blockState: Column<BlockState> = { type: 'text', write: (value) => value }
const transactionState: Column<TransactionState> = { type: 'text', write: (value) => value }
const allotments: Column<Parameters<typeof allotmentsJson>[0]> = {
  type: 'text',
  write: allotmentsJson,
}

function optional<V>({ type, write }: Column<V>): Column<V | undefined> {
  return { type, write: (value) => (value === undefined ? null : write(value)) }
}

function named<V>(name: string, column: Column<V>): Column<V> {
  return { ...column, name }
}

/** Rows of the log. */
export const ledgerUpdates = table('ledger_updates', {
  seq: long,
  address: hex,
  class: updateClass,
  ordinal: long,
  roles,
  milestoneIndex: long,
  outputId: hex,
  isSpent: truth,
  historyHash: hex,
  balance: optional(amount),
})

/** Whose rows are counted together. */
export const tipKeys = table('ledger_updates', { address: hex, class: updateClass })

/** The newest removed row of an address and class. */
export const prunedTips = table(
  'pruned_tips',
  {
    address: hex,
    class: updateClass,
    ordinal: long,
    historyHash: hex,
    milestoneIndex: long,
    balance: optional(amount),
  },
  2,
)

/** Committed slots. */
export const commitments = table('commitments', {
  slot: long,
  commitmentId: named('id', hex),
  bytes,
  firstSeq: long,
  lastSeq: long,
})

/** Blocks. */
export const blocks = table('blocks', {
  blockId: named('id', hex),
  inbox: long,
  slot: long,
  issuerId: hex,
  issuingTime: amount,
  bytes,
  transactionId: optional(hex),
  state: blockState,
  kind: blockKind,
  workScore: long,
})

/** Blocks by id. */
export const blockIds = table('blocks', { blockId: named('id', hex) })

/** States of blocks. */
export const blockStates = table('blocks', { blockId: named('id', hex), state: blockState })

/** References between blocks. */
export const blockParents = table('block_parents', { parent: hex, child: hex })

/** Transactions with the block that carries them. */
export const carriedTransactions = table('transactions', {
  transactionId: named('id', hex),
  blockId: hex,
  slot: long,
  state: transactionState,
  carriers: int,
})

/** Transactions by id. */
export const transactionIds = table('transactions', { transactionId: named('id', hex) })

/** Verdicts on transactions. */
export const verdicts = table('transactions', {
  transactionId: named('id', hex),
  blockId: hex,
  slot: long,
  state: transactionState,
  failureReason: optional(int),
  allotments,
  judgedCarriers: { type: 'int', write: (judged: number | undefined) => judged ?? 1 },
})

/** Blocks that wait, by their places in the inbox. */
export const waitingCarriers = table('waiting_carriers', { inbox: long, slot: long, missing: int })

/** Places in the inbox of blocks that wait. */
export const waitingPlaces = table('waiting_carriers', { inbox: long })

/** Places in the inbox of blocks that wait for a transaction. */
export const awaitingPlaces = table('awaited_transactions', { inbox: long })

/** Transactions that blocks wait for. */
export const awaitedTransactions = table('awaited_transactions', {
  transactionId: hex,
  inbox: long,
})

/** Transactions that blocks wait for, by id. */
export const awaitedIds = table('awaited_transactions', { transactionId: hex })

/** New outputs. */
export const outputs = table('outputs', {
  outputId: named('id', hex),
  bytes,
  // Without bytes where the block is not known: the column has no null.
  blockId: { type: 'bytes', write: (id: Hex | undefined) => (id === undefined ? '' : digits(id)) },
  bookedSlot: long,
})

/** Outputs by id. */
export const outputIds = table('outputs', { outputId: named('id', hex) })

/** What spends outputs. */
export const spends = table('outputs', {
  outputId: named('id', hex),
  spentSlot: long,
  spentBy: optional(hex),
})

/** Unspent outputs as filters see them. */
export const unspentOutputs = table('unspent_outputs', {
  outputId: hex,
  /** The type code. */
  kind: int,
  bookedSlot: long,
  timelockSlot: optional(long),
  expirationSlot: optional(long),
  hasReturn: truth,
  hasToken: truth,
})

/** Unspent outputs by id. */
export const unspentIds = table('unspent_outputs', { outputId: hex })

/** Index keys and the outputs that are found by them. */
export const indexKeys = table('index_keys', {
  kind: indexKind,
  value: hex,
  bookedSlot: long,
  outputId: hex,
})

/** Slots that outputs wait for. */
export const dueOutputs = table('due_outputs', { slot: long, outputId: hex })

/** Base tokens of addresses; each amount is at most 2^63 - 1. */
export const balances = table('balances', {
  address: hex,
  total: amount,
  available: amount,
  timelocked: amount,
  storageDeposit: amount,
  expiring: amount,
  outputs: long,
})

/** Balances by address. */
export const balanceAddresses = table('balances', { address: hex })

/** Native tokens of addresses; amounts are 32 bytes, the highest first. */
export const tokenBalances = table(
  'token_balances',
  { address: hex, tokenId: hex, available: hex, timelocked: hex, expiring: hex },
  2,
)

/** Native tokens of addresses by token. */
export const ownedTokens = table('token_balances', { address: hex, tokenId: hex })

/** What addresses own at the end of slots in which an expiration moved an output. */
export const expirationTransfers = table('expiration_transfers', {
  address: hex,
  slot: long,
  total: amount,
})
