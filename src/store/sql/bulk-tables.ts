import { type Resolution, resolutions } from '../../ledger/activity-buckets.ts'
import type { ChainKind } from '../../ledger/chain-states.ts'
import type { IndexKind } from '../../ledger/index-keys.ts'
import { maskToRoles, type Role, rolesToMask, type UpdateClass } from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import {
  allotmentsFrom,
  allotmentsJson,
  candidatesFrom,
  candidatesJson,
  committeeFrom,
  committeeJson,
  rewardsFrom,
  rewardsJson,
} from '../json-columns.ts'
import { type BlockKind, blockStates as statesOfBlocks, transactionStates } from '../rows.ts'
import {
  chainKindOf,
  classToNumber,
  digits,
  indexKindToNumber,
  kindToNumber,
  numberToClass,
  numberToKind,
  oneOf,
  stringsFromJson,
} from '../values.ts'
import type { BulkTable } from './bulk.ts'
import {
  amount,
  asIs,
  bool,
  bytes,
  column,
  hex,
  id,
  int,
  long,
  optional,
  ownId,
  table,
  text,
  type WrittenColumn,
  writtenTable,
} from './columns.ts'

/** Columns that statements write, match and read, by table and in order. */

/** Type of the rows that a table description accepts. */
export type RowIn<T> = T extends BulkTable<infer R> ? R : never

const updateClass = column<UpdateClass>('int', classToNumber, (value) =>
  numberToClass(Number(value)),
)
const roles = column<readonly Role[]>('int', rolesToMask, (value) => maskToRoles(Number(value)))
const blockKind = column<BlockKind>('int', kindToNumber, (value) => numberToKind(Number(value)))
const word = <W extends string>(words: readonly W[]) =>
  column<W>('text', asIs, (value) => oneOf(words, String(value)))
const blockState = word(statesOfBlocks)
const allotments = column<Parameters<typeof allotmentsJson>[0]>('text', allotmentsJson, (value) =>
  allotmentsFrom(textOf(value)),
)
const strings = column<readonly string[]>('text', JSON.stringify, (value) =>
  stringsFromJson(String(value)),
)
const chainKind = column<ChainKind>('int', asIs, chainKindOf)
const indexKind: WrittenColumn<IndexKind> = { type: 'int', write: indexKindToNumber }

/** Rows of the log. */
export const ledgerUpdates = table('ledger_updates', {
  seq: long,
  address: hex,
  class: updateClass,
  ordinal: long,
  roles,
  milestoneIndex: long,
  outputId: id<'OutputId'>(),
  isSpent: bool,
  historyHash: hex,
  balance: optional(amount),
  isLastOfTransaction: bool,
})

/** Rows of the log as the explorer lists them, and from which the transactions of an address are listed. */
export const listedUpdates = table('ledger_updates', {
  seq: long,
  milestoneIndex: long,
  outputId: id<'OutputId'>(),
  isSpent: bool,
})

/** Newest ordinal and history hash of an address and class. */
export const addressTips = table('ledger_updates', { ordinal: long, historyHash: hex })

/** Address and class: the key under which rows of the log are counted. */
export const tipKeys = table('ledger_updates', { address: hex, class: updateClass })

/** Newest pruned row of an address and class. */
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
  commitmentId: ownId<'CommitmentId'>(),
  bytes,
  firstSeq: long,
  lastSeq: long,
})

export const blocks = table('blocks', {
  blockId: ownId<'BlockId'>(),
  inbox: long,
  slot: long,
  issuerId: id<'AccountId'>(),
  issuingTime: amount,
  bytes,
  transactionId: optional(id<'TransactionId'>()),
  state: blockState,
  kind: blockKind,
  workScore: long,
})

export const inboxPositions = table('blocks', { inbox: long })

export const commitmentSlots = table('commitments', { slot: long })

/** Committed slots by the ids of their commitments. */
export const commitmentIds = table('commitments', {
  commitmentId: ownId<'CommitmentId'>(),
})

/** Issuers and issuing times of blocks. */
export const issuedBlocks = table('blocks', {
  blockId: ownId<'BlockId'>(),
  slot: long,
  issuerId: id<'AccountId'>(),
  issuingTime: amount,
})

export const blockIds = table('blocks', { blockId: ownId<'BlockId'>() })

export const blockStates = table('blocks', {
  blockId: ownId<'BlockId'>(),
  state: blockState,
})

/** References between blocks, each with the position of the child in the inbox. */
export const blockParents = table('block_parents', {
  parent: id<'BlockId'>(),
  inbox: long,
})

const carriedTransaction = {
  transactionId: ownId<'TransactionId'>(),
  blockId: id<'BlockId'>(),
  slot: long,
  state: word(transactionStates),
} as const

const judgedTransaction = { ...carriedTransaction, failureReason: optional(int) } as const

/** Transactions, each with a block that carries it and the number of its carriers. */
export const carriedTransactions = table('transactions', { ...carriedTransaction, carriers: int })

export const transactions = table('transactions', judgedTransaction)

export const transactionIds = table('transactions', {
  transactionId: ownId<'TransactionId'>(),
})

export const verdicts = writtenTable('transactions', {
  ...judgedTransaction,
  allotments,
  judgedCarriers: { type: 'int', write: (judged: number | undefined) => judged ?? 1 },
})

/** Blocks whose transaction waits for other transactions, by their places in the inbox. */
export const waitingCarriers = table('waiting_carriers', { inbox: long, slot: long, missing: int })

export const waitingPositions = table('waiting_carriers', { inbox: long })

/** Awaited transactions by the inbox place of the block that waits for them. */
export const awaitingPositions = table('awaited_transactions', { inbox: long })

/** Transactions that blocks wait for. */
export const awaitedTransactions = table('awaited_transactions', {
  transactionId: id<'TransactionId'>(),
  inbox: long,
})

/** Transactions that blocks wait for, by id. */
export const awaitedIds = table('awaited_transactions', { transactionId: id<'TransactionId'>() })

const newOutput = {
  outputId: ownId<'OutputId'>(),
  bytes,
  // Empty when the block is unknown: the column is not nullable.
  blockId: {
    ...optional(id<'BlockId'>()),
    write: (block: Hex | undefined) => (block === undefined ? '' : digits(block)),
  },
  bookedSlot: long,
}

/** New outputs, with their type codes. */
export const outputs = writtenTable('outputs', { ...newOutput, kind: int })

/** Outputs, spent or not. */
export const outputRows = table('outputs', {
  ...newOutput,
  spentSlot: optional(long),
  spentBy: optional(id<'TransactionId'>()),
})

export const outputIds = table('outputs', { outputId: ownId<'OutputId'>() })

/** Slots and transactions in which outputs are spent. */
export const spends = table('outputs', {
  outputId: ownId<'OutputId'>(),
  spentSlot: long,
  spentBy: optional(id<'TransactionId'>()),
})

/** Unspent outputs with the columns that filters use. */
export const unspentOutputs = table('unspent_outputs', {
  outputId: id<'OutputId'>(),
  /** Type code of the output. */
  kind: int,
  bookedSlot: long,
  timelockSlot: optional(long),
  expirationSlot: optional(long),
  hasReturn: bool,
  hasToken: bool,
})

export const unspentSlots = table('unspent_outputs', {
  outputId: id<'OutputId'>(),
  bookedSlot: long,
})

export const unspentIds = table('unspent_outputs', { outputId: id<'OutputId'>() })

/** Index keys with the unspent outputs that have them. */
export const indexKeys = writtenTable('index_keys', {
  kind: indexKind,
  value: hex,
  bookedSlot: long,
  outputId: id<'OutputId'>(),
})

export const indexValues = writtenTable('index_keys', { value: hex })

/** Successive outputs of chains. */
export const chainStates = table(
  'chain_states',
  { chainId: hex, ordinal: long, kind: chainKind, bookedSlot: long, outputId: id<'OutputId'>() },
  2,
)

export const chainIds = writtenTable('chain_states', { chainId: hex })

/** Future slots at which timelocks and expirations of unspent outputs end. */
export const dueOutputs = table('due_outputs', { slot: long, outputId: id<'OutputId'>() })

/** Balances of base tokens by address. Each amount is at most 2^63 - 1. */
export const balances = table('balances', {
  address: hex,
  total: amount,
  available: amount,
  timelocked: amount,
  storageDeposit: amount,
  expiring: amount,
  outputs: long,
})

/** Total base tokens of addresses. */
export const addressTotals = table('balances', { address: hex, total: amount })

export const balanceAddresses = table('balances', { address: hex })

/** Balances of native tokens by address. Amounts are 32 bytes, big-endian. */
export const tokenBalances = table(
  'token_balances',
  {
    address: hex,
    tokenId: id<'FoundryId'>(),
    available: hex,
    timelocked: hex,
    expiring: hex,
    total: hex,
  },
  2,
)

/** Keys of native token balances. */
export const ownedTokens = table('token_balances', { address: hex, tokenId: id<'FoundryId'>() })

/** Holders of native tokens with their totals. */
export const tokenHolders = table('token_balances', { address: hex, total: hex })

/** Totals of addresses at the end of slots with an expiration transfer. */
export const expirationTransfers = table(
  'expiration_transfers',
  { address: hex, slot: long, total: amount },
  2,
)

/** Number of addresses and their total, by power of ten of the amount that they own. */
export const balanceRanges = table('balance_ranges', {
  exponent: long,
  addresses: long,
  total: amount,
})

export const networks = writtenTable('network', { id: int, logId: hex, parameters: bytes })

/** Epochs, each with three columns of JSON. */
export const epochs = table('epochs', {
  epoch: long,
  committee: column('text', committeeJson, (value) => committeeFrom(String(value))),
  candidates: column('text', candidatesJson, (value) => candidatesFrom(textOf(value))),
  rewards: column('text', rewardsJson, (value) => rewardsFrom(textOf(value))),
})

/** Activity of time buckets. */
export const activity = table(
  'activity',
  {
    resolution: column<Resolution>(
      'int',
      (value) => resolutions.indexOf(value),
      (value) => present(resolutions[Number(value)], 'a resolution'),
    ),
    bucket: long,
    slots: long,
    blocks: optional(long),
    blockBytes: optional(long),
    accepted: long,
    failed: optional(long),
    updates: long,
    movedHigh: optional(long),
    movedLow: optional(long),
    burnedHigh: optional(long),
    burnedLow: optional(long),
    addresses: long,
    newAddresses: long,
  },
  2,
)

/** Number of unspent outputs by type. */
export const outputCounts = table('output_counts', { kind: long, outputs: long })

/** Versions of accounts. The entry is `undefined` once the account is deleted. */
export const accountVersions = table('account_versions', {
  slot: long,
  entry: optional(bytes),
})

export const chainRecords = table('chain_records', {
  chainId: text,
  version: int,
  accessNodes: strings,
  isActive: bool,
  setBy: text,
  setAt: long,
  change: long,
})

function textOf(value: unknown): string | null {
  return value === null ? null : String(value)
}
