import type { Activity, ActivityBucket } from '../ledger/activity.ts'
import type { Resolution } from '../ledger/activity-buckets.ts'
import type { BalanceRange } from '../ledger/balance-ranges.ts'
import type { Balance, ExpirationTotal, TokenBalance } from '../ledger/balances-of-address.ts'
import type { IndexKey } from '../ledger/index-keys.ts'
import type { Hex } from '../lib/hex.ts'
import type { FoundryId, OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { ChainReader } from './chain-contract.ts'
import type { Between, PageOrder } from './list-contract.ts'
import type { AddressTotal, OutputRow } from './rows.ts'
import type { SearchReader } from './search-contract.ts'

/** Reads of what is kept beside the log. An answer with a `slot` is as of the end of that committed slot. */
export interface ViewReader extends ChainReader, SearchReader {
  /** The base tokens of an address; a row's lookup. */
  balance(address: Hex): Promise<{ readonly slot: SlotIndex; readonly balance: Balance }>
  /** The same of many, as of one moment; those that own nothing are left out. */
  balances(
    addresses: readonly Hex[],
  ): Promise<{ readonly slot: SlotIndex; readonly balances: ReadonlyMap<Hex, Balance> }>
  /** The native tokens of an address, by id. */
  tokenBalances(address: Hex, part: Between, page: PageOrder): Promise<readonly OwnedTokens[]>
  /** All base tokens of an address at the end of a committed slot; `undefined` for a slot that is not committed. */
  totalAt(address: Hex, slot: SlotIndex): Promise<bigint | undefined>
  /**
   * The same at the ends of many slots, in their order. Slots that are not committed are left out, and so are those before the
   * cut of the log at which nothing is known of the address. Some index lookups a slot, however long the history is.
   */
  totalsAt(address: Hex, slots: readonly SlotIndex[]): Promise<readonly TotalAt[]>
  /** The first slot that is known to have changed what an address owns; `undefined` for one that never owned anything. */
  firstOwned(address: Hex): Promise<SlotIndex | undefined>
  /** The slots after one up to another, both of them known, in which expirations moved outputs of an address, in order. */
  expirationTotals(
    address: Hex,
    slots: { readonly after: SlotIndex; readonly upTo: SlotIndex; readonly limit: number },
  ): Promise<readonly ExpirationTotal[]>
  /** The outputs of a transaction, in no order. */
  outputsOfTransaction(transactionId: TransactionId): Promise<OutputRow[]>
  /** The addresses that own most base tokens; of those that own the same, the last by bytes first. */
  richestAddresses(
    limit: number,
  ): Promise<{ readonly slot: SlotIndex; readonly owners: readonly AddressTotal[] }>
  /** The ranges that have addresses, the poorest first. */
  balanceRanges(): Promise<{ readonly slot: SlotIndex; readonly ranges: readonly BalanceRange[] }>
  /**
   * What happened in spans of time, by their numbers, both included; of the spans that have committed slots. With the first
   * and the newest slot of the ledger. One index range.
   */
  activity(resolution: Resolution, from: number, to: number): Promise<ActivityRange>
  /** What is counted of the whole ledger, and of its newest `slots` slots; a few rows whatever the ledger's size. */
  ledgerCounters(slots: number): Promise<LedgerCounters>
  /** Unspent outputs by booked slot and id. One index scan for each way in which an output can be meant, and no more. */
  unspentOutputs(question: UnspentQuery): Promise<OutputRow[]>
  /**
   * How far these scans may go at once: where one of them has walked over `most` outputs, or as many as are walked over at once, whether
   * these fulfil the rest of the filter or not. Index entries alone are read.
   */
  unspentStop(question: Omit<UnspentQuery, 'limit'>, most: number): Promise<ScanStop>
}

/** Where scans stop. */
export interface ScanStop {
  /** The last place of all; left out where they come to their ends before. */
  readonly at: OutputPosition | undefined
  /** How many outputs are walked over until there. */
  readonly walked: number
}

/** All base tokens of an address at the end of a slot. */
export interface TotalAt {
  readonly slot: SlotIndex
  readonly total: bigint
  /** The slot of the last update or expiration until then; `undefined` before the first. */
  readonly changedIn: SlotIndex | undefined
}

/** Spans of time, the oldest first. A span that is not wholly counted has fewer slots than it should. */
export interface ActivityRange {
  readonly first: SlotIndex
  readonly slot: SlotIndex
  readonly spans: readonly ActivityBucket[]
}

/** Counts as of the end of a committed slot. */
export interface LedgerCounters {
  readonly slot: SlotIndex
  /** Addresses that own base tokens. */
  readonly addresses: number
  /** Unspent outputs, and those of them that are accounts. */
  readonly outputs: number
  readonly accounts: number
  /** The newest slots as far as they are counted; `blocks` is not known in upstream mode. */
  readonly recent: Pick<Activity, 'slots' | 'blocks' | 'accepted'>
}

/** A native token and how much of it an address has. */
export interface OwnedTokens {
  readonly tokenId: FoundryId
  readonly balance: TokenBalance
}

/** Which page of which unspent outputs. */
export interface UnspentQuery {
  readonly filter: UnspentFilter
  /** Both exclusive, in the order of places; there need be no outputs. */
  readonly after?: OutputPosition | undefined
  readonly before?: OutputPosition | undefined
  /** The last place in the order, itself included. */
  readonly through?: OutputPosition | undefined
  /** By default ascending. */
  readonly order?: 'ascending' | 'descending' | undefined
  readonly limit: number
}

/** A place in the order of unspent outputs. */
export interface OutputPosition {
  readonly bookedSlot: SlotIndex
  readonly outputId: OutputId
}

/** What outputs must fulfil, all of it. */
export interface UnspentFilter {
  /** Unspent by everything that is booked, or unspent at the end of the newest committed slot. */
  readonly asOf: 'BOOKED' | 'COMMITTED'
  /** Owned by this address at the end of the newest committed slot, or of the slot of booking. Not beside `anyOf`. */
  readonly heldBy?: Hex | undefined
  /** Each of them. */
  readonly keys?: readonly OutputKey[] | undefined
  /** At least one of them. */
  readonly anyOf?: readonly IndexKey[] | undefined
  /** Type codes. */
  readonly kinds?: readonly number[] | undefined
  readonly hasReturn?: boolean | undefined
  readonly hasToken?: boolean | undefined
  readonly hasTimelock?: boolean | undefined
  readonly hasExpiration?: boolean | undefined
  /** By the slot of a timelock or expiration as written, and by the slot of booking. */
  readonly timelocked?: SlotBounds | undefined
  readonly expires?: SlotBounds | undefined
  readonly created?: SlotBounds | undefined
}

/** An index key, or the address of the owner, whether the output expires or not. */
export type OutputKey = IndexKey | OwnerKey

/** The address of the address condition or of the immutable account; what has it is found by one of two index keys. */
export interface OwnerKey {
  readonly kind: 'OWNER'
  readonly value: Hex
}

/** Slots between two, both excluded. */
export interface SlotBounds {
  readonly after?: SlotIndex | undefined
  readonly before?: SlotIndex | undefined
}
