/** The expected failures of `src/api`. The file has no imports, so that their union in `gateway-error.ts` creates no import cycle. */

/** An expected failure of the transports. */
export type ApiError =
  | AuthError
  | LimitError
  | RateLimitExceeded
  | SubmissionNotAllowed
  | RequestUnreadable
  | AnswerTooLarge
  | ClientLeft
  | OperationTooCostly
  | OperationCostExceeded
  | DocumentError
  | HostNotAllowed
  | OriginNotAllowed
  | DocumentTooLarge
  | MatchError
  | BodyError
  | NotAcceptable
  | QueryParameterMalformed
  | PathIdMalformed
  | NodeIdMalformed
  | PathSlotMalformed
  | NotFound
  | AddressNotAnAccount
  | AddressOfAnotherKind
  | RangeReversed
  | LedgerIndexNotKept
  | LedgerMoved
  | IfMatchMalformed
  | FaucetMissing
  | FaucetRequestMalformed
  | EventsNotAccepted
  | InternalError

/** Reasons to refuse a request that requires a token. */
export type AuthError =
  | TokenError
  | { readonly code: 'TOKEN_MISSING' }
  | { readonly code: 'PERMISSION_MISSING'; readonly permission: 'write' }

/** Reasons to refuse a token. */
export type TokenError =
  | { readonly code: 'TOKEN_MALFORMED' }
  | { readonly code: 'TOKEN_UNSIGNED' }
  | { readonly code: 'TOKEN_ALGORITHM_REFUSED'; readonly given: string; readonly expected: string }
  | { readonly code: 'TOKEN_SIGNATURE_INVALID' }
  /** `expiredAt` in seconds since 1970. */
  | { readonly code: 'TOKEN_EXPIRED'; readonly expiredAt: number }
  | { readonly code: 'TOKEN_NOT_YET_VALID' }
  /** The key set does not have the key that the header of the token names. */
  | { readonly code: 'TOKEN_KEY_UNKNOWN' }
  /** The settings of the operator require the claim. */
  | { readonly code: 'TOKEN_CLAIM_MISSING'; readonly claim: 'exp' | 'iat' }
  | { readonly code: 'TOKEN_ISSUER_REFUSED' }
  | { readonly code: 'TOKEN_AUDIENCE_REFUSED' }
  | { readonly code: 'TOKEN_SUBJECT_INVALID'; readonly limit: number }
  /** The operator revoked the token, or all tokens of its subject. */
  | { readonly code: 'TOKEN_REVOKED' }

/** Reasons to refuse a connection, a subscription or an operation for now. */
export type LimitError =
  | {
      readonly code: 'SUBSCRIPTION_LIMIT'
      readonly scope: 'connection' | 'server'
      readonly limit: number
    }
  | { readonly code: 'CONNECTION_LIMIT'; readonly limit: number }
  /** Connections of one client; several users of the same address count as one client. */
  | { readonly code: 'CLIENT_CONNECTION_LIMIT'; readonly limit: number }
  | { readonly code: 'CLIENT_SUBSCRIPTION_LIMIT'; readonly limit: number }
  /** Too many operations are running, of this client or in total, or their responses hold too much memory. */
  | {
      readonly code: 'OPERATION_LIMIT'
      readonly unit: 'operations' | 'bytes'
      readonly limit: number
    }
  /** One event of every subscription of a connection costs too much in total. */
  | { readonly code: 'SUBSCRIPTIONS_TOO_COSTLY'; readonly cost: number; readonly limit: number }
  /** The event loop is so late that more requests would only wait longer. */
  | { readonly code: 'GATEWAY_OVERLOADED' }
  /** The gateway is about to stop. */
  | { readonly code: 'GATEWAY_DRAINING' }

/** The client has used up its budget, which refills over time. */
export interface RateLimitExceeded {
  readonly code: 'RATE_LIMIT_EXCEEDED'
  readonly cost: number
  readonly remaining: number
  readonly retryAfterSeconds: number
}

/** The submission policy of this gateway does not allow the caller to submit blocks. */
export interface SubmissionNotAllowed {
  readonly code: 'SUBMISSION_NOT_ALLOWED'
  readonly policy: 'closed' | 'token'
}

/** A request that is not valid HTTP, or that arrived too slowly. */
export type RequestUnreadable =
  | { readonly code: 'REQUEST_MALFORMED'; readonly reason: string }
  | { readonly code: 'REQUEST_HEAD_TOO_LARGE'; readonly limit: number }
  | { readonly code: 'REQUEST_TOO_SLOW'; readonly limitMs: number }

/** A response above the size limit; no part of it is sent. */
export interface AnswerTooLarge {
  readonly code: 'ANSWER_TOO_LARGE'
  readonly unit: 'bytes' | 'fields'
  readonly limit: number
}

/** The client closed the connection before the response was complete. */
export interface ClientLeft {
  readonly code: 'CLIENT_LEFT'
}

/** An operation whose estimated cost is above the limit. */
export interface OperationTooCostly {
  readonly code: 'OPERATION_TOO_COSTLY'
  readonly cost: number
  readonly limit: number
  /** The path of the most expensive field. */
  readonly field: string
}

/** An operation whose actual cost went above the limit. */
export interface OperationCostExceeded {
  readonly code: 'OPERATION_COST_EXCEEDED'
  readonly limit: number
}

/** Reasons to refuse a GraphQL document. */
export type DocumentError =
  | { readonly code: 'PERSISTED_QUERY_MALFORMED' }
  /** The client has to send the document again, together with its hash. */
  | { readonly code: 'PERSISTED_QUERY_NOT_FOUND' }
  | { readonly code: 'PERSISTED_QUERY_HASH_MISMATCH' }
  /** The document is not in the operator's manifest. */
  | { readonly code: 'DOCUMENT_NOT_TRUSTED' }
  /** The operator has turned introspection off. */
  | { readonly code: 'INTROSPECTION_OFF' }

/** The `Host` header has a name that the operator has not allowed. */
export interface HostNotAllowed {
  readonly code: 'HOST_NOT_ALLOWED'
  readonly host: string
}

/** Pages of this origin may not open a WebSocket. */
export interface OriginNotAllowed {
  readonly code: 'ORIGIN_NOT_ALLOWED'
  readonly origin: string
}

/** Reasons to refuse a GraphQL document because of its size. */
export type DocumentTooLarge =
  | { readonly code: 'DOCUMENT_TOO_DEEP'; readonly limit: number }
  | { readonly code: 'TOO_MANY_LINES'; readonly limit: number }
  | { readonly code: 'TOO_MANY_ALIASES'; readonly limit: number }
  | { readonly code: 'TOO_MANY_DIRECTIVES'; readonly limit: number }
  | { readonly code: 'TOO_MANY_VARIABLES'; readonly limit: number }
  | { readonly code: 'NAME_TOO_LONG'; readonly limit: number }

/** Reasons why a request matches no route, or why its query string does not fit the route. */
export type MatchError =
  | { readonly code: 'PATH_UNKNOWN'; readonly path: string }
  | { readonly code: 'PATH_MALFORMED'; readonly path: string }
  | { readonly code: 'METHOD_NOT_ALLOWED'; readonly method: string; readonly allowed: string }
  | { readonly code: 'QUERY_MALFORMED'; readonly part: string }
  | { readonly code: 'QUERY_PARAMETER_UNKNOWN'; readonly name: string; readonly known: string }
  | { readonly code: 'QUERY_PARAMETER_REPEATED'; readonly name: string }

/** Reasons to refuse a request body. */
export type BodyError =
  | { readonly code: 'BODY_TOO_LARGE'; readonly limit: number }
  | { readonly code: 'BODY_NOT_JSON'; readonly reason: string }
  /** JSON with more values than `maxJsonValues`. */
  | { readonly code: 'TOO_MANY_VALUES'; readonly limit: number }
  /** The body is compressed. */
  | { readonly code: 'CONTENT_ENCODING_REFUSED' }
  | { readonly code: 'CONTENT_TYPE_REFUSED'; readonly given: string; readonly expected: string }

/** The client accepts none of the media types of GraphQL responses. */
export interface NotAcceptable {
  readonly code: 'NOT_ACCEPTABLE'
}

/** A query parameter with an invalid value. */
export interface QueryParameterMalformed {
  readonly code: 'QUERY_PARAMETER_MALFORMED'
  readonly name: string
  readonly expected: string
}

/** A text that is not a global id of this gateway. */
export interface NodeIdMalformed {
  readonly code: 'NODE_ID_MALFORMED'
  readonly argument: string
}

/** A path parameter that is not an identifier of the expected length. */
export interface PathIdMalformed {
  readonly code: 'PATH_ID_MALFORMED'
  readonly name: string
  readonly bytes: number
}

/** A path parameter that is not a slot. */
export interface PathSlotMalformed {
  readonly code: 'PATH_SLOT_MALFORMED'
  readonly name: string
}

/** No object has this identifier. */
export interface NotFound {
  readonly code: 'NOT_FOUND'
  readonly what: string
  readonly id: string
}

/** An address that is not an account address, where an account address is required. */
export interface AddressNotAnAccount {
  readonly code: 'ADDRESS_NOT_AN_ACCOUNT'
  readonly argument: string
}

/** An address of another kind than the required one. */
export interface AddressOfAnotherKind {
  readonly code: 'ADDRESS_OF_ANOTHER_KIND'
  readonly argument: string
  readonly expected: string
}

/** A range that ends before it begins. */
export interface RangeReversed {
  readonly code: 'RANGE_REVERSED'
  readonly of: 'time' | 'slot'
  readonly start: string
  readonly end: string
}

/** Balances are available only as of the newest milestone. */
export interface LedgerIndexNotKept {
  readonly code: 'LEDGER_INDEX_NOT_KEPT'
  readonly asked: number
  readonly newest: number
}

/** The gateway commits slots faster than it can read the outputs of the address. */
export interface LedgerMoved {
  readonly code: 'LEDGER_MOVED'
}

/** The header does not contain entity tags of chain records. */
export interface IfMatchMalformed {
  readonly code: 'IF_MATCH_MALFORMED'
  readonly header: 'If-Match' | 'If-None-Match'
}

/** This gateway has no faucet. Only a gateway that embeds the ledger of a development network has one. */
export interface FaucetMissing {
  readonly code: 'FAUCET_MISSING'
}

/** A body without an address, or with an invalid amount. */
export interface FaucetRequestMalformed {
  readonly code: 'FAUCET_REQUEST_MALFORMED'
  readonly member: string
  readonly expected: string
}

/** A subscription over HTTP whose `Accept` header does not include `text/event-stream`. */
export interface EventsNotAccepted {
  readonly code: 'EVENTS_NOT_ACCEPTED'
}

/** A bug, or a failure of the machine. The log has the details under the request id. */
export interface InternalError {
  readonly code: 'INTERNAL'
  readonly requestId: string
}
