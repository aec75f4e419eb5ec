import type { Balance, Prisma, TokenBalance } from '../../generated/prisma/client.ts'
import type { IndexKey } from '../../ledger/index-keys.ts'
import type { Hex } from '../../lib/hex.ts'
import type { FoundryId, OutputId, SlotIndex } from '../../protocol/primitives.ts'

/** What is kept beside the log, for questions that it answers only slowly: which outputs are unspent, and who owns how much. */

type Tx = Prisma.TransactionClient

/** The bulk statements of what is kept; all of them leave alone what is not there. */
export interface ViewStatements {
  insertUnspent(tx: Tx, outputs: readonly UnspentRow[]): Promise<void>
  deleteUnspent(tx: Tx, outputIds: readonly OutputId[]): Promise<void>
  insertIndexKeys(tx: Tx, terms: readonly IndexKeyRow[]): Promise<void>
  deleteIndexKeys(tx: Tx, terms: readonly IndexKeyRow[]): Promise<void>
  insertDue(tx: Tx, due: readonly DueRow[]): Promise<void>
  deleteDue(tx: Tx, due: readonly DueRow[]): Promise<void>
  /** The balances of some addresses, where they own anything. */
  balancesOf(tx: Tx, addresses: readonly Hex[]): Promise<Balance[]>
  /** Adds balances, or replaces them. */
  putBalances(tx: Tx, balances: readonly BalanceRow[]): Promise<void>
  deleteBalances(tx: Tx, addresses: readonly Hex[]): Promise<void>
  tokenBalancesOf(tx: Tx, owned: readonly OwnedToken[]): Promise<TokenBalance[]>
  putTokenBalances(tx: Tx, balances: readonly TokenBalanceRow[]): Promise<void>
  deleteTokenBalances(tx: Tx, owned: readonly OwnedToken[]): Promise<void>
  insertExpirationTransfers(tx: Tx, transfers: readonly ExpirationTransferRow[]): Promise<void>
}

/** An unspent output in the words of the filters. */
export interface UnspentRow {
  readonly outputId: OutputId
  /** The type code. */
  readonly kind: number
  readonly bookedSlot: SlotIndex
  readonly timelockSlot: SlotIndex | undefined
  readonly expirationSlot: SlotIndex | undefined
  readonly hasReturn: boolean
  readonly hasToken: boolean
}

/** A term and the output that is found by it. */
export interface IndexKeyRow extends IndexKey {
  readonly bookedSlot: SlotIndex
  readonly outputId: OutputId
}

/** A slot that an output waits for. */
export interface DueRow {
  readonly slot: SlotIndex
  readonly outputId: OutputId
}

/** The base tokens of an address; each amount is at most 2^63 - 1. */
export interface BalanceRow {
  readonly address: Hex
  readonly total: bigint
  readonly available: bigint
  readonly timelocked: bigint
  readonly storageDeposit: bigint
  readonly expiring: bigint
  readonly outputs: number
}

/** A native token under an address. */
export interface OwnedToken {
  readonly address: Hex
  readonly tokenId: FoundryId
}

/** How much of it there is; amounts are 32 bytes, the highest first. */
export interface TokenBalanceRow extends OwnedToken {
  readonly available: Hex
  readonly timelocked: Hex
  readonly expiring: Hex
}

/** What an address owns at the end of a slot. */
export interface ExpirationTransferRow {
  readonly address: Hex
  readonly slot: SlotIndex
  readonly total: bigint
}
