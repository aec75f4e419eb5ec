import { createHash } from 'node:crypto'
import { type AccountEntry, emptyEntry } from '../../src/ledger/accounts.ts'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { type BasicOutput, Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { Id } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import type {
  BookedTransaction,
  Booking,
  CreatedOutput,
  Genesis,
  IncomingBlock,
  SlotCommit,
} from '../../src/store/contract.ts'
import type { AccountVersion, LogEntry, LogRange } from '../../src/store/rows.ts'

/** Rows for store tests, derived from small numbers. Only outputs and parameters have valid bytes, because the store decodes no others. */

/** Every row of a test's log. */
export const wholeLog: LogRange = {
  classes: ['OWNED', 'MENTIONED'],
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  limit: 10_000,
  order: 'ascending',
}

/** Every native token of an address. */
export const allTokens = { above: ['0x'], below: [`0x${'ff'.repeat(39)}`] } as const

/** The maximum integer of a column. */
export const greatestInteger = 2n ** 63n - 1n

/** A row of the table `ledger_updates` with a value of every column type, mostly the maximum of its type. */
export const extremeUpdate = {
  seq: greatestInteger,
  address: new Uint8Array(33).fill(255),
  class: 1,
  ordinal: 2n ** 53n + 1n,
  roles: 2 ** 31 - 1,
  milestoneIndex: 0n,
  outputId: new Uint8Array(),
  isSpent: true,
  historyHash: new Uint8Array(32),
  balance: null,
  isLastOfTransaction: false,
}

/** An id of `length` bytes that is different for every kind and number. */
export function testId<Kind extends string>(kind: Kind, length: number, n: number): Id<Kind> {
  const hash = createHash('shake256', { outputLength: length }).update(`${kind} ${n}`).digest()
  return bytesToHex(hash) as Id<Kind>
}

/** The block id of a number. */
export function blockIdOf(n: number) {
  return testId('BlockId', 36, n)
}

/** The transaction id of a number. */
export function transactionIdOf(n: number) {
  return testId('TransactionId', 36, n)
}

/** The output id of a number. */
export function outputIdOf(n: number) {
  return testId('OutputId', 38, n)
}

/** The Ed25519 address of a number. */
export function addressOf(n: number): Hex {
  return `0x00${testId('Address', 32, n).slice(2)}`
}

/** The block of a number, by default in slot 1 and with the transaction of the same number. */
export function incomingBlock(n: number, changes: Partial<IncomingBlock> = {}): IncomingBlock {
  return {
    blockId: blockIdOf(n),
    slot: 1,
    issuerId: testId('AccountId', 32, 0),
    issuingTime: 1_700_000_000_000_000_000n + BigInt(n),
    bytes: Uint8Array.of(3, n & 255, 255, 0),
    transactionId: transactionIdOf(n),
    kind: 'basic',
    workScore: 500,
    ...changes,
  }
}

/** An output that the address of a number owns. */
export function ownedOutput(n: number, amount: bigint): BasicOutput {
  const address = { type: 0, pubKeyHash: testId('Address', 32, n) } as const
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

/** The output of a number, by default owned by the address of the same number and booked in slot 1. */
export function createdOutput(n: number, changes: Partial<CreatedOutput> = {}): CreatedOutput {
  return {
    outputId: outputIdOf(n),
    bytes: encode(Output, ownedOutput(n, 1_000n + BigInt(n))),
    blockId: blockIdOf(n),
    bookedSlot: 1,
    ...changes,
  }
}

/** The log entry of the creation of an output, by default with its owner's address. */
export function entry(address: number, output: number, changes: Partial<LogEntry> = {}): LogEntry {
  return {
    address: addressOf(address),
    class: 'OWNED',
    roles: ['OWNER'],
    outputId: outputIdOf(output),
    isSpent: false,
    ...changes,
  }
}

/** The commit of a slot with its entries. By default it changes nothing except the log. */
export function slotCommit(
  slot: number,
  entries: readonly LogEntry[] = [],
  changes: Partial<SlotCommit> = {},
): SlotCommit {
  return {
    slot,
    commitmentId: testId('CommitmentId', 36, slot),
    bytes: new Uint8Array(89).fill(slot),
    entries,
    accounts: [],
    epochs: [],
    ...changes,
  }
}

/** The parameters of the development network, with a `minCommittableAge` of 3. */
export const testParameters = encode(ProtocolParameters, developmentParameters(0))

/** A ledger with one output and one account, in slot 0. */
export function testGenesis(changes: Partial<Genesis> = {}): Genesis {
  return {
    network: { logId: '0x0102030405060708', parameters: testParameters },
    outputs: [createdOutput(0, { bookedSlot: 0 })],
    accounts: [accountVersion(0, 0)],
    epoch: { epoch: 0, committee: [], candidates: [], rewards: undefined },
    commit: slotCommit(0, [entry(0, 0)]),
    ...changes,
  }
}

/** The version of the account of a number in a slot. */
export function accountVersion(n: number, slot: number, changes: Partial<AccountEntry> = {}) {
  const accountId = testId('AccountId', 32, n)
  const entry: AccountEntry = {
    ...emptyEntry(accountId, slot),
    outputId: outputIdOf(n),
    credits: -(2n ** 60n),
    expirySlot: 2 ** 32 - 1,
    keyHashes: [testId('Key', 32, 0), testId('Key', 32, 1)].sort(),
    ...changes,
  }
  return { accountId, slot, entry } satisfies AccountVersion
}

/** The booked transaction of a number, by default accepted in slot 1. */
export function bookedTransaction(
  n: number,
  changes: Partial<BookedTransaction> = {},
): BookedTransaction {
  return {
    transactionId: transactionIdOf(n),
    blockId: blockIdOf(n),
    slot: 1,
    state: 'ACCEPTED',
    failureReason: undefined,
    allotments: [],
    ...changes,
  }
}

/** A booking with the given parts; all other parts are empty. */
export function booking(parts: Partial<Booking>): Booking {
  return { blocks: [], transactions: [], created: [], spent: [], ...parts }
}
