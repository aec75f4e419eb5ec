/** The expected failures of this room, without imports, so that no cycle leads through their union in `gateway-error.ts`. */

/** An expected failure of this room. */
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
  | DocumentTooDeep
  | TooManyVariables
  | TooManyAliases
  | TooManyDirectives
  | TooManyLines
  | MatchError
  | BodyError
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

/** Why a caller may not do what needs a token. */
export type AuthError =
  | TokenError
  | { readonly code: 'TOKEN_MISSING' }
  | { readonly code: 'PERMISSION_MISSING'; readonly permission: 'write' }

/** Why a token is not accepted. */
export type TokenError =
  | { readonly code: 'TOKEN_MALFORMED' }
  | { readonly code: 'TOKEN_UNSIGNED' }
  | { readonly code: 'TOKEN_ALGORITHM_REFUSED'; readonly given: string; readonly expected: string }
  | { readonly code: 'TOKEN_SIGNATURE_INVALID' }
  /** `expiredAt` in seconds since 1970. */
  | { readonly code: 'TOKEN_EXPIRED'; readonly expiredAt: number }
  | { readonly code: 'TOKEN_NOT_YET_VALID' }
  /** Its header names a key that the key set does not have. */
  | { readonly code: 'TOKEN_KEY_UNKNOWN' }
  /** The operator demands the claim. */
  | { readonly code: 'TOKEN_CLAIM_MISSING'; readonly claim: 'exp' | 'iat' }
  | { readonly code: 'TOKEN_ISSUER_REFUSED' }
  | { readonly code: 'TOKEN_AUDIENCE_REFUSED' }
  | { readonly code: 'TOKEN_SUBJECT_INVALID'; readonly limit: number }
  /** The operator has revoked it, or all of its subject. */
  | { readonly code: 'TOKEN_REVOKED' }

/** Why a connection or a subscription is refused now. */
export type LimitError =
  | {
      readonly code: 'SUBSCRIPTION_LIMIT'
      readonly scope: 'connection' | 'server'
      readonly limit: number
    }
  | { readonly code: 'CONNECTION_LIMIT'; readonly limit: number }
  /** Of one client, which may have others of the same address beside it. */
  | { readonly code: 'CLIENT_CONNECTION_LIMIT'; readonly limit: number }
  | { readonly code: 'CLIENT_SUBSCRIPTION_LIMIT'; readonly limit: number }
  /** Too many operations are under way, or their answers hold too much memory. */
  | {
      readonly code: 'OPERATION_LIMIT'
      readonly unit: 'operations' | 'bytes'
      readonly limit: number
    }
  /** One event of all subscriptions of a connection together costs too much. */
  | { readonly code: 'SUBSCRIPTIONS_TOO_COSTLY'; readonly cost: number; readonly limit: number }
  /** Requests wait for so long before anything of them is done that more of them would only wait longer. */
  | { readonly code: 'GATEWAY_OVERLOADED' }
  /** The gateway is about to stop. */
  | { readonly code: 'GATEWAY_DRAINING' }

/** The client has spent its share; after some seconds there is enough of it again. */
export interface RateLimitExceeded {
  readonly code: 'RATE_LIMIT_EXCEEDED'
  readonly cost: number
  readonly remaining: number
  readonly retryAfterSeconds: number
}

/** The caller may not submit blocks here. */
export interface SubmissionNotAllowed {
  readonly code: 'SUBMISSION_NOT_ALLOWED'
  readonly policy: 'closed' | 'token'
}

/** A request that is not HTTP, or arrived too slowly. */
export type RequestUnreadable =
  | { readonly code: 'REQUEST_MALFORMED'; readonly reason: string }
  | { readonly code: 'REQUEST_HEAD_TOO_LARGE'; readonly limit: number }
  | { readonly code: 'REQUEST_TOO_SLOW'; readonly limitMs: number }

/** An answer that is larger than any may be; nothing of it is sent. */
export interface AnswerTooLarge {
  readonly code: 'ANSWER_TOO_LARGE'
  readonly unit: 'bytes' | 'fields'
  readonly limit: number
}

/** The client left before its answer. */
export interface ClientLeft {
  readonly code: 'CLIENT_LEFT'
}

/** An operation that asks for too much at once. */
export interface OperationTooCostly {
  readonly code: 'OPERATION_TOO_COSTLY'
  readonly cost: number
  readonly limit: number
  /** The path of the field that costs most. */
  readonly field: string
}

/** An operation that has spent more than any may. */
export interface OperationCostExceeded {
  readonly code: 'OPERATION_COST_EXCEEDED'
  readonly limit: number
}

/** Why a document is not taken. */
export type DocumentError =
  | { readonly code: 'PERSISTED_QUERY_MALFORMED' }
  /** The client is to send the document once more, with its hash. */
  | { readonly code: 'PERSISTED_QUERY_NOT_FOUND' }
  | { readonly code: 'PERSISTED_QUERY_HASH_MISMATCH' }
  /** The operator's manifest does not have it. */
  | { readonly code: 'DOCUMENT_NOT_TRUSTED' }
  /** The operator keeps the schema from clients. */
  | { readonly code: 'INTROSPECTION_OFF' }

/** The request calls the gateway by a name that it does not have. */
export interface HostNotAllowed {
  readonly code: 'HOST_NOT_ALLOWED'
  readonly host: string
}

/** A page of this origin may not open a WebSocket. */
export interface OriginNotAllowed {
  readonly code: 'ORIGIN_NOT_ALLOWED'
  readonly origin: string
}

/** A document that defines too many variables. */
export interface TooManyVariables {
  readonly code: 'TOO_MANY_VARIABLES'
  readonly limit: number
}

/** A document that nests too deep. */
export interface DocumentTooDeep {
  readonly code: 'DOCUMENT_TOO_DEEP'
  readonly limit: number
}

/** A document with too many lines. */
export interface TooManyLines {
  readonly code: 'TOO_MANY_LINES'
  readonly limit: number
}

/** A document that gives too many fields another name. */
export interface TooManyAliases {
  readonly code: 'TOO_MANY_ALIASES'
  readonly limit: number
}

/** A document that has too many directives. */
export interface TooManyDirectives {
  readonly code: 'TOO_MANY_DIRECTIVES'
  readonly limit: number
}

/** Why a request matches no route, or its query does not fit the route. */
export type MatchError =
  | { readonly code: 'PATH_UNKNOWN'; readonly path: string }
  | { readonly code: 'PATH_MALFORMED'; readonly path: string }
  | { readonly code: 'METHOD_NOT_ALLOWED'; readonly method: string; readonly allowed: string }
  | { readonly code: 'QUERY_MALFORMED'; readonly part: string }
  | { readonly code: 'QUERY_PARAMETER_UNKNOWN'; readonly name: string; readonly known: string }
  | { readonly code: 'QUERY_PARAMETER_REPEATED'; readonly name: string }

/** Why a body cannot be used. */
export type BodyError =
  | { readonly code: 'BODY_TOO_LARGE'; readonly limit: number }
  | { readonly code: 'BODY_NOT_JSON'; readonly reason: string }
  /** A compressed body. */
  | { readonly code: 'CONTENT_ENCODING_REFUSED' }
  | { readonly code: 'CONTENT_TYPE_REFUSED'; readonly given: string; readonly expected: string }

/** A query parameter whose value is not of its form. */
export interface QueryParameterMalformed {
  readonly code: 'QUERY_PARAMETER_MALFORMED'
  readonly name: string
  readonly expected: string
}

/** A global id that this gateway does not write. */
export interface NodeIdMalformed {
  readonly code: 'NODE_ID_MALFORMED'
  readonly argument: string
}

/** The text in the path is not an identifier of that kind. */
export interface PathIdMalformed {
  readonly code: 'PATH_ID_MALFORMED'
  readonly name: string
  readonly bytes: number
}

/** The text in the path is not a slot. */
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

/** An address of another kind where an account's is needed. */
export interface AddressNotAnAccount {
  readonly code: 'ADDRESS_NOT_AN_ACCOUNT'
  readonly argument: string
}

/** An address of another kind than is needed. */
export interface AddressOfAnotherKind {
  readonly code: 'ADDRESS_OF_ANOTHER_KIND'
  readonly argument: string
  readonly expected: string
}

/** A span that ends before it begins. */
export interface RangeReversed {
  readonly code: 'RANGE_REVERSED'
  readonly start: string
  readonly end: string
}

/** Balances are kept as of the newest milestone only. */
export interface LedgerIndexNotKept {
  readonly code: 'LEDGER_INDEX_NOT_KEPT'
  readonly asked: number
  readonly newest: number
}

/** Slots are committed faster than the outputs of the address can be read. */
export interface LedgerMoved {
  readonly code: 'LEDGER_MOVED'
}

/** The tag in the header is no tag of a chain record. */
export interface IfMatchMalformed {
  readonly code: 'IF_MATCH_MALFORMED'
}

/** This gateway has no faucet: only one that keeps the ledger of a development network has. */
export interface FaucetMissing {
  readonly code: 'FAUCET_MISSING'
}

/** A body without an address, or with an amount that is none. */
export interface FaucetRequestMalformed {
  readonly code: 'FAUCET_REQUEST_MALFORMED'
  readonly member: string
  readonly expected: string
}

/** A subscription was requested without accepting an event stream. */
export interface EventsNotAccepted {
  readonly code: 'EVENTS_NOT_ACCEPTED'
}

/** A bug or a broken machine. The log has the rest, under the request id. */
export interface InternalError {
  readonly code: 'INTERNAL'
  readonly requestId: string
}
