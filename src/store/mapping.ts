import type {
  Account,
  Block,
  ChainRecord,
  Commitment,
  LedgerUpdate as LedgerUpdateModel,
  Output,
  Transaction,
} from '../generated/prisma/client.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import type {
  AccountRow,
  BlockRow,
  ChainRecordVersion,
  LedgerUpdate,
  Milestone,
  OutputRow,
  TransactionRow,
} from './rows.ts'
import {
  blockState,
  idFromBytes,
  maskToRoles,
  numberToClass,
  stringsFromJson,
  transactionState,
} from './values.ts'

/** Database rows as plain values, one function for each table. */

/** A row of the log. */
export function toLedgerUpdate(row: LedgerUpdateModel): LedgerUpdate {
  return {
    seq: Number(row.seq),
    address: bytesToHex(row.address),
    class: numberToClass(row.class),
    ordinal: Number(row.ordinal),
    roles: maskToRoles(row.roles),
    milestoneIndex: Number(row.milestoneIndex),
    outputId: idFromBytes(row.outputId),
    isSpent: row.isSpent,
    chain: bytesToHex(row.chain),
  }
}

/** A committed slot. */
export function toMilestone(row: Commitment): Milestone {
  return {
    slot: Number(row.slot),
    commitmentId: idFromBytes(row.id),
    bytes: row.bytes,
    firstSeq: Number(row.firstSeq),
    lastSeq: Number(row.lastSeq),
  }
}

/** A block of the inbox. */
export function toBlock(row: Block): BlockRow {
  return {
    blockId: idFromBytes(row.id),
    inbox: Number(row.inbox),
    slot: Number(row.slot),
    issuerId: idFromBytes(row.issuerId),
    issuingTime: row.issuingTime,
    bytes: row.bytes,
    transactionId: row.transactionId === null ? undefined : idFromBytes(row.transactionId),
    state: blockState(row.state),
  }
}

/** A transaction. */
export function toTransaction(row: Transaction): TransactionRow {
  return {
    transactionId: idFromBytes(row.id),
    blockId: idFromBytes(row.blockId),
    slot: Number(row.slot),
    state: transactionState(row.state),
    failureReason: row.failureReason ?? undefined,
  }
}

/** An output. */
export function toOutput(row: Output): OutputRow {
  return {
    outputId: idFromBytes(row.id),
    bytes: row.bytes,
    blockId: idFromBytes(row.blockId),
    bookedSlot: Number(row.bookedSlot),
    spentSlot: row.spentSlot === null ? undefined : Number(row.spentSlot),
    spentBy: row.spentBy === null ? undefined : idFromBytes(row.spentBy),
  }
}

/** An account. */
export function toAccount(row: Account): AccountRow {
  return {
    accountId: idFromBytes(row.id),
    outputId: idFromBytes(row.outputId),
    credits: row.credits,
    updatedSlot: Number(row.updatedSlot),
    expirySlot: Number(row.expirySlot),
    keyHashes: toKeyHashes(row.keyHashes),
  }
}

function toKeyHashes(bytes: Uint8Array): Hex[] {
  const count = bytes.length / 32
  return Array.from({ length: count }, (_, i) => bytesToHex(bytes.subarray(32 * i, 32 * i + 32)))
}

/** A version of a chain record. */
export function toChainRecord(row: ChainRecord): ChainRecordVersion {
  return {
    chainId: row.chainId,
    version: row.version,
    accessNodes: stringsFromJson(row.accessNodes),
    isActive: row.isActive,
    setBy: row.setBy,
    setAt: Number(row.setAt),
  }
}
