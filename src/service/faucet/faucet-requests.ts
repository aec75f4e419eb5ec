import type { Result } from '../../lib/result.ts'
import type { LedgerUnavailable } from '../../node/source.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import type { AddressError } from '../addresses/address-key.ts'

/** Requests to a faucet and their results. */

/** A faucet that queues requests and pays them, one transaction after the other. */
export interface Faucet {
  /** Queues a request, which is paid soon after. */
  enqueue(payment: RequestedPayment): Promise<Result<FaucetRequest, FaucetError>>
  close(): Promise<void>
}

export interface RequestedPayment {
  /** Bech32 address of the receiver. */
  readonly address: string
  /**
   * Base tokens; `undefined` for the default amount. A stated amount is paid without a limit on repetition: the key of the
   * faucet is public anyway, and the request saves the client from conflicts with other spenders of the same output.
   */
  readonly amount: bigint | undefined
}

export interface FaucetRequest {
  /** The address as the client sent it. */
  readonly address: string
  /** Number of waiting requests, including this request. */
  readonly waitingRequests: number
  /** Resolves to the transaction that pays the request, or to the reason why it was not paid. */
  readonly settled: Promise<Result<TransactionId, FaucetPaymentFailed>>
}

/** A queued request could not be paid. */
export interface FaucetPaymentFailed {
  readonly code: 'FAUCET_PAYMENT_FAILED'
  /** The code of the cause: missing funds, or the last refusal or failure of the transaction. */
  readonly reason: string
}

/** Why a request was refused. */
export type FaucetError =
  | AddressError
  | LedgerUnavailable
  | { readonly code: 'FAUCET_REQUEST_WAITING'; readonly address: string }
  /** The amount is below the minimum of an output to this address. */
  | { readonly code: 'FAUCET_AMOUNT_TOO_SMALL'; readonly least: bigint }
  | { readonly code: 'FAUCET_FUNDS_ENOUGH'; readonly address: string; readonly limit: bigint }
  | { readonly code: 'FAUCET_BUSY'; readonly waiting: number }
