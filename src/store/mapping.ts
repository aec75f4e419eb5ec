import type {
  AccountVersion as AccountVersionModel,
  Balance as BalanceModel,
  Block,
  ChainRecord,
  Commitment,
  Output,
  PrunedTip as PrunedTipModel,
  TokenBalance as TokenBalanceModel,
  Transaction,
} from '../generated/prisma/client.ts'
import { accountEntryFrom } from '../ledger/accounts.ts'
import type { Balance, TokenBalance } from '../ledger/balances-of-address.ts'
import { bytesToHex } from '../lib/hex.ts'
import type {
  AccountVersion,
  BlockRow,
  ChainRecordVersion,
  Milestone,
  OutputRow,
  PrunedTip,
  TransactionRow,
} from './rows.ts'
import {
  blockState,
  bytesToUint256,
  idFromBytes,
  numberToClass,
  numberToKind,
  stringsFromJson,
  transactionState,
} from './values.ts'

/** Converts database rows to plain values, with one function per table. */

/** Converts the newest pruned row of an address and class. */
export function toPrunedTip(row: PrunedTipModel): PrunedTip {
  return {
    address: bytesToHex(row.address),
    class: numberToClass(row.class),
    ordinal: Number(row.ordinal),
    historyHash: bytesToHex(row.historyHash),
    milestoneIndex: Number(row.milestoneIndex),
    balance: row.balance ?? undefined,
  }
}

/** Converts a committed slot. */
export function toMilestone(row: Commitment): Milestone {
  return {
    slot: Number(row.slot),
    commitmentId: idFromBytes(row.id),
    bytes: row.bytes,
    firstSeq: Number(row.firstSeq),
    lastSeq: Number(row.lastSeq),
  }
}

/** Converts a block of the inbox. */
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
    kind: numberToKind(row.kind),
    workScore: Number(row.workScore),
  }
}

export function toTransaction(row: Transaction): TransactionRow {
  return {
    transactionId: idFromBytes(row.id),
    blockId: idFromBytes(row.blockId),
    slot: Number(row.slot),
    state: transactionState(row.state),
    failureReason: row.failureReason ?? undefined,
  }
}

export function toOutput(row: Output): OutputRow {
  return {
    outputId: idFromBytes(row.id),
    bytes: row.bytes,
    blockId: row.blockId.length === 0 ? undefined : idFromBytes(row.blockId),
    bookedSlot: Number(row.bookedSlot),
    spentSlot: row.spentSlot === null ? undefined : Number(row.spentSlot),
    spentBy: row.spentBy === null ? undefined : idFromBytes(row.spentBy),
  }
}

/** Converts the entry of an account at the end of a slot. */
export function toAccountVersion(row: AccountVersionModel): AccountVersion {
  return {
    accountId: idFromBytes(row.id),
    slot: Number(row.slot),
    entry: row.entry === null ? undefined : accountEntryFrom(row.entry),
  }
}

export function toChainRecord(row: ChainRecord): ChainRecordVersion {
  return {
    chainId: row.chainId,
    version: row.version,
    accessNodes: stringsFromJson(row.accessNodes),
    isActive: row.isActive,
    setBy: row.setBy,
    setAt: Number(row.setAt),
    change: Number(row.change),
  }
}

/** Converts the base tokens of an address. */
export function toBalance(row: Omit<BalanceModel, 'address' | 'total'>): Balance {
  return {
    available: row.available,
    timelocked: row.timelocked,
    storageDeposit: row.storageDeposit,
    expiring: row.expiring,
    outputs: Number(row.outputs),
  }
}

/** Converts a native token of an address. */
export function toTokenBalance(
  row: Pick<TokenBalanceModel, 'available' | 'timelocked' | 'expiring'>,
): TokenBalance {
  return {
    available: bytesToUint256(row.available),
    timelocked: bytesToUint256(row.timelocked),
    expiring: bytesToUint256(row.expiring),
  }
}
