import type { Activity, ActivityBucket } from '../../ledger/activity.ts'
import type { Resolution } from '../../ledger/activity-buckets.ts'
import type { BalanceRange } from '../../ledger/balance-ranges.ts'
import type { Balance, ExpirationTotal, TokenBalance } from '../../ledger/balances-of-address.ts'
import type { IndexKey } from '../../ledger/index-keys.ts'
import type { Hex } from '../../lib/hex.ts'
import type { FoundryId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { AddressTotal, OutputRow } from '../rows.ts'
import type { ChainReader } from './chain.ts'
import type { Between, PageOrder } from './list.ts'
import type { MultiReader } from './multi.ts'
import type { SearchReader } from './search.ts'

/** Reads of the views that are maintained beside the log. A result with a `slot` is the state at the end of that committed slot. */
export interface ViewReader extends ChainReader, MultiReader, SearchReader {
  /** The base tokens of an address, by the lookup of one row. */
  balance(address: Hex): Promise<{ readonly slot: SlotIndex; readonly balance: Balance }>
  /** The base tokens of many addresses, all of one state. Addresses that own nothing are omitted. */
  balances(
    addresses: readonly Hex[],
  ): Promise<{ readonly slot: SlotIndex; readonly balances: ReadonlyMap<Hex, Balance> }>
  /** The native tokens of an address, by id. */
  tokenBalances(address: Hex, part: Between, page: PageOrder): Promise<readonly OwnedTokens[]>
  /** Total base tokens of an address at the end of a committed slot; `undefined` for a slot that is not committed. */
  totalAt(address: Hex, slot: SlotIndex): Promise<bigint | undefined>
  /**
   * The totals of an address at the ends of many slots, in order of the slots. Omits slots that are not committed, and slots before the
   * pruned position at which nothing is known of the address. Costs some index lookups per slot, however long the history is.
   */
  totalsAt(address: Hex, slots: readonly SlotIndex[]): Promise<readonly TotalAt[]>
  /** The first known slot that changed the holdings of an address; `undefined` for an address that never owned anything. */
  firstOwned(address: Hex): Promise<SlotIndex | undefined>
  /** The slots in which expirations moved outputs of an address, in order, from `after` (exclusive) to `upTo` (inclusive). */
  expirationTotals(
    address: Hex,
    slots: { readonly after: SlotIndex; readonly upTo: SlotIndex; readonly limit: number },
  ): Promise<readonly ExpirationTotal[]>
  /** The outputs of a transaction, in no particular order. */
  outputsOfTransaction(transactionId: TransactionId): Promise<OutputRow[]>
  /** The addresses with the most base tokens. Equal totals are in descending order of the address bytes. */
  richestAddresses(
    limit: number,
  ): Promise<{ readonly slot: SlotIndex; readonly owners: readonly AddressTotal[] }>
  /** The balance ranges with addresses, the lowest first. */
  balanceRanges(): Promise<{ readonly slot: SlotIndex; readonly ranges: readonly BalanceRange[] }>
  /**
   * The activity in the spans `from` to `to`, both inclusive, that have committed slots, with the first and the newest slot of the
   * ledger. One index range.
   */
  activity(resolution: Resolution, from: number, to: number): Promise<ActivityRange>
  /** Counters of the whole ledger, and of its newest `slots` slots. Reads a few rows, whatever the size of the ledger. */
  ledgerCounters(slots: number): Promise<LedgerCounters>
  /** Unspent outputs by booked slot and id. Costs one index scan for each index key or kind of the filter. */
  unspentOutputs(query: UnspentQuery): Promise<OutputRow[]>
  /**
   * The position at which the first of these scans has passed `max` outputs, or the maximum for one pass, whether the outputs match the
   * rest of the filter or not. Reads only index entries.
   */
  unspentScanEnd(query: Omit<UnspentQuery, 'limit'>, max: number): Promise<ScanEnd>
}

/** Where the scans of a query reach their limit of outputs. */
export interface ScanEnd {
  /** Position of the first scan that reaches its limit; `undefined` if none does. */
  readonly at: OutputPosition | undefined
  /** Number of outputs that the scans pass until then. */
  readonly scanned: number
}

/** Total base tokens of an address at the end of a slot. */
export interface TotalAt {
  readonly slot: SlotIndex
  readonly total: bigint
  /** Slot of the last update or expiration up to `slot`; `undefined` before the first. */
  readonly changedIn: SlotIndex | undefined
}

/** Spans of time, the oldest first. A span that is not fully counted has fewer slots than its length. */
export interface ActivityRange {
  readonly first: SlotIndex
  readonly slot: SlotIndex
  readonly spans: readonly ActivityBucket[]
}

/** Counters at the end of a committed slot. */
export interface LedgerCounters {
  readonly slot: SlotIndex
  /** Addresses that own base tokens. */
  readonly addresses: number
  /** Unspent outputs. */
  readonly outputs: number
  /** Unspent account outputs. */
  readonly accounts: number
  /** Activity of the newest slots, as far as they are counted. `blocks` is unknown in upstream mode. */
  readonly recent: Pick<Activity, 'slots' | 'blocks' | 'accepted'>
}

/** The balance of one native token of an address. */
export interface OwnedTokens {
  readonly tokenId: FoundryId
  readonly balance: TokenBalance
}

export interface UnspentQuery {
  readonly filter: UnspentFilter
  /** Lower bound of the positions, exclusive. There need not be an output at it. */
  readonly after?: OutputPosition | undefined
  /** Upper bound of the positions, exclusive. */
  readonly before?: OutputPosition | undefined
  /** Last position in the order of the query, inclusive. */
  readonly through?: OutputPosition | undefined
  /** `ascending` by default. */
  readonly order?: 'ascending' | 'descending' | undefined
  readonly limit: number
}

/** A position in the order of unspent outputs. */
export interface OutputPosition {
  readonly bookedSlot: SlotIndex
  readonly outputId: OutputId
}

/** Conditions of unspent outputs. An output must fulfil all of them. */
export interface UnspentFilter {
  /** BOOKED: not spent by any booked transaction. COMMITTED: unspent at the end of the newest committed slot. */
  readonly asOf: 'BOOKED' | 'COMMITTED'
  /** Owner at the end of the newest committed slot, or at the slot of booking. Cannot be combined with `anyOf`. */
  readonly heldBy?: Hex | undefined
  /** Index keys that the output must all have. */
  readonly keys?: readonly OutputKey[] | undefined
  /** Index keys of which the output must have at least one. */
  readonly anyOf?: readonly IndexKey[] | undefined
  /** Type codes of which the output must have one. */
  readonly kinds?: readonly number[] | undefined
  readonly hasReturn?: boolean | undefined
  readonly hasToken?: boolean | undefined
  readonly hasTimelock?: boolean | undefined
  readonly hasExpiration?: boolean | undefined
  /** Bounds of the slot of the timelock condition. */
  readonly timelocked?: SlotBounds | undefined
  /** Bounds of the slot of the expiration condition. */
  readonly expires?: SlotBounds | undefined
  /** Bounds of the slot of booking. */
  readonly created?: SlotBounds | undefined
}

/** An index key, or the address of the owner, whether the output expires or not. */
export type OutputKey = IndexKey | OwnerKey

/** The address of the address condition or of the immutable account. Two kinds of index keys cover these outputs. */
export interface OwnerKey {
  readonly kind: 'OWNER'
  readonly value: Hex
}

/** Bounds of a slot, both exclusive. */
export interface SlotBounds {
  readonly after?: SlotIndex | undefined
  readonly before?: SlotIndex | undefined
}
