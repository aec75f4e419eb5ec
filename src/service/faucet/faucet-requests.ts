import type { Result } from '../../lib/result.ts'
import type { LedgerUnavailable } from '../../node/source.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import type { AddressError } from '../addresses/address-key.ts'

/** What a faucet takes and answers. */

/** A faucet that takes requests and pays them one transaction after the other. */
export interface Faucet {
  /** Takes a request; it is paid soon after. */
  enqueue(question: FaucetQuestion): Promise<Result<FaucetRequest, FaucetError>>
  close(): Promise<void>
}

/** A request before it is taken. */
export interface FaucetQuestion {
  /** Bech32 text of the receiver. */
  readonly address: string
  /**
   * Base tokens; `undefined` for the usual amount. A named amount is paid as often as it is requested: the key of the faucet
   * is public, and the request spares the client a conflict with other spenders of the same output.
   */
  readonly amount: bigint | undefined
}

/** A request that was taken. */
export interface FaucetRequest {
  /** As it was asked with. */
  readonly address: string
  /** How many requests wait now, this one included. */
  readonly waitingRequests: number
  /** Resolves with the transaction when the request is paid, or with the reason why it is not. */
  readonly settled: Promise<Result<TransactionId, FaucetPaymentFailed>>
}

/** A request that was taken could not be paid. */
export interface FaucetPaymentFailed {
  readonly code: 'FAUCET_PAYMENT_FAILED'
  /** Why: funds that are missing, or the last refusal or failure of the transaction. */
  readonly reason: string
}

/** Why a request was not taken. */
export type FaucetError =
  | AddressError
  | LedgerUnavailable
  | { readonly code: 'FAUCET_REQUEST_WAITING'; readonly address: string }
  /** No output to this address may hold so little. */
  | { readonly code: 'FAUCET_AMOUNT_TOO_SMALL'; readonly least: bigint }
  | { readonly code: 'FAUCET_FUNDS_ENOUGH'; readonly address: string; readonly limit: bigint }
  | { readonly code: 'FAUCET_BUSY'; readonly waiting: number }
