import { GraphQLError } from 'graphql'
import type { Result } from '../lib/result.ts'
import { refusalMessage } from '../protocol/schema/refusal.ts'
import type { ChainRecordUnknown } from '../service/activate-chain.ts'
import type { AddressError } from '../service/address-key.ts'
import type { ChainRecordPageError } from '../service/chain-records.ts'
import type { FollowChainRecordsError } from '../service/follow-chain-records.ts'
import type { FollowLedgerUpdatesError } from '../service/follow-ledger-updates.ts'
import type { ForeseeTransactionError } from '../service/foresee-transaction.ts'
import type { ListLedgerUpdatesError } from '../service/list-ledger-updates.ts'
import type { ListUnspentOutputsError } from '../service/list-unspent-outputs.ts'
import type { SetChainRecordError } from '../service/set-chain-record.ts'
import type { SubmitBlockError } from '../service/submit-block.ts'
import type { PageCursorMalformed } from '../service/update-place.ts'
import type { AuthError } from './auth.ts'
import type { LimitError } from './limits.ts'
import type { BodyError } from './rest/body.ts'
import type { IfMatchMalformed } from './rest/chain-record.ts'
import type { NotFound, PathIdMalformed, PathSlotMalformed } from './rest/core/ids.ts'
import type { QueryParameterMalformed } from './rest/ledger-updates.ts'
import type { MatchError } from './rest/match.ts'
import { json, type RestResponse } from './rest/route.ts'
import type { SubmissionNotAllowed } from './submission-policy.ts'

/** Every expected failure that a door can tell, from all rooms. A new union is added here and its rows to `faces`. */
export type GatewayError =
  | AuthError
  | BodyError
  | MatchError
  | InternalError
  | AddressError
  | ListLedgerUpdatesError
  | FollowLedgerUpdatesError
  | PageCursorMalformed
  | QueryParameterMalformed
  | SetChainRecordError
  | ChainRecordUnknown
  | FollowChainRecordsError
  | IfMatchMalformed
  | ChainRecordPageError
  | SubmitBlockError
  | ListUnspentOutputsError
  | ForeseeTransactionError
  | SubmissionNotAllowed
  | PathIdMalformed
  | PathSlotMalformed
  | LimitError
  | NotFound

/** A bug or a broken machine. The log has the rest, under the request id. */
export interface InternalError {
  readonly code: 'INTERNAL'
  readonly requestId: string
}

type ErrorCode = GatewayError['code']
type ErrorOf<C extends ErrorCode> = Extract<GatewayError, { readonly code: C }>

/** How one failure looks from outside. */
interface Face<C extends ErrorCode> {
  /** The HTTP status on REST. */
  readonly status: number
  /** One sentence that names the field and says what is expected; without a capital, without a full stop. */
  readonly say: (error: ErrorOf<C>) => string
  /** More headers on REST, in lower case. */
  readonly headers?: (error: ErrorOf<C>) => Readonly<Record<string, string>>
}

/** The one table: what is said, and with which status. Total by type. */
const faces: { readonly [C in ErrorCode]: Face<C> } = {
  INTERNAL: { status: 500, say: (e) => `internal server error (request ${e.requestId})` },

  PATH_UNKNOWN: { status: 404, say: (e) => `there is nothing at ${e.path}` },
  PATH_MALFORMED: { status: 400, say: () => 'the path is not percent-encoded UTF-8' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    say: (e) => `the method ${e.method} is not allowed here; allowed: ${e.allowed}`,
    headers: (e) => ({ allow: e.allowed }),
  },
  QUERY_MALFORMED: { status: 400, say: (e) => `query: ${e.part} is not percent-encoded UTF-8` },
  QUERY_PARAMETER_UNKNOWN: {
    status: 400,
    say: (e) =>
      `query: ${e.name} is unknown; ${e.known === '' ? 'this route knows no parameters' : `known: ${e.known}`}`,
  },
  QUERY_PARAMETER_REPEATED: { status: 400, say: (e) => `query: ${e.name} comes more than once` },

  ADDRESS_MALFORMED: {
    status: 400,
    say: (e) => `${e.argument}: not a Bech32 address: ${inWords(e.reason)}`,
  },
  ADDRESS_OF_ANOTHER_NETWORK: {
    status: 400,
    say: (e) =>
      `${e.argument}: an address of the network "${e.hrp}"; this one writes "${e.expected}"`,
  },
  CURSOR_MALFORMED: { status: 400, say: (e) => `${e.argument}: not a cursor of this gateway` },
  CURSOR_OF_ANOTHER_LOG: {
    status: 410,
    say: (e) => `${e.argument}: a cursor of another log; start again without it`,
  },
  CURSOR_AHEAD_OF_TIP: {
    status: 400,
    say: (e) => `${e.argument}: the log reaches only to position ${e.tip}; try again later`,
  },
  CURSOR_EXPIRED: {
    status: 410,
    say: (e) =>
      `${e.argument}: older than the retained log; go on after ${e.oldestCursor}, with what lies between missing`,
  },
  PAGE_CURSOR_MALFORMED: {
    status: 400,
    say: (e) =>
      `query: cursor must be milestoneIndex.outputId.isSpent.pageSize${e.part === 'cursor' ? '' : `; its ${e.part} is wrong`}`,
  },
  PAGE_SIZE_OUT_OF_RANGE: {
    status: 400,
    say: (e) => `${e.argument}: must be from 0 to ${e.limit}, not ${e.value}`,
  },
  FEED_ADDRESS_COUNT: {
    status: 400,
    say: (e) => `addresses: must be from 1 to ${e.limit}, not ${e.count}`,
  },
  FEED_CLASSES_MISSING: { status: 400, say: () => 'classes: at least one is needed' },
  FEED_START_AMBIGUOUS: {
    status: 400,
    say: () => 'after: either this or afterMilestone, not both',
  },
  FEED_SNAPSHOT_WITHOUT_ADDRESSES: {
    status: 400,
    say: () => 'snapshot: needs addresses; the whole ledger is not told in a snapshot',
  },
  MILESTONE_NOT_COMMITTED: {
    status: 400,
    say: (e) =>
      `${e.argument}: milestone ${e.milestoneIndex} is not committed yet; the newest is ${e.newest}`,
  },
  OUTPUT_CURSOR_MALFORMED: {
    status: 400,
    say: (e) => `${e.argument}: not a cursor of the list of outputs`,
  },
  FILTER_AMBIGUOUS: { status: 400, say: (e) => `filter: either ${e.members}, not both` },
  QUERY_PARAMETER_MALFORMED: {
    status: 400,
    say: (e) => `query: ${e.name} must be ${e.expected}`,
  },

  BODY_TOO_LARGE: { status: 413, say: (e) => `body: longer than ${e.limit} bytes` },
  BODY_NOT_JSON: { status: 400, say: (e) => `body: not JSON: ${e.reason}` },
  CONTENT_TYPE_REFUSED: {
    status: 400,
    say: (e) => `Content-Type: expected ${e.expected}, not ${e.given}`,
  },

  TOKEN_MISSING: unauthorized(() => 'a token is needed'),
  TOKEN_MALFORMED: unauthorized(() => 'the token is not a JSON Web Token'),
  TOKEN_UNSIGNED: unauthorized(() => 'the token is not signed'),
  TOKEN_ALGORITHM_REFUSED: unauthorized(
    (e) => `the token is signed with ${e.given}, and only ${e.expected} is accepted`,
  ),
  TOKEN_SIGNATURE_INVALID: unauthorized(
    () => 'the token is not signed with the key of this gateway',
  ),
  TOKEN_EXPIRED: unauthorized((e) => `the token expired at ${isoTime(e.expiredAt)}`),
  TOKEN_NOT_YET_VALID: unauthorized(() => 'the token is not valid yet'),
  PERMISSION_MISSING: {
    status: 403,
    say: (e) => `Authorization: the token lacks the permission ${e.permission}`,
  },

  CHAIN_ID_NOT_BECH32: {
    status: 400,
    say: (e) => `${e.argument}: not Bech32: ${inWords(e.reason)}`,
  },
  CHAIN_ID_NOT_A_CHAIN: {
    status: 400,
    say: (e) => `${e.argument}: expected the Bech32 text of an account (8) or anchor (24) address`,
  },
  CHAIN_RECORD_MALFORMED: { status: 400, say: (e) => `${e.member}: expected ${e.expected}` },
  CHAIN_RECORD_UNKNOWN: { status: 404, say: (e) => `there is no record of ${e.chainId}` },
  CHAIN_RECORD_STALE: {
    status: 412,
    say: (e) =>
      e.version === 0
        ? `there is no record of ${e.chainId} to replace`
        : `the record of ${e.chainId} is version ${e.version} now`,
  },
  IF_MATCH_MALFORMED: {
    status: 400,
    say: () => 'If-Match: expected * or tags of chain records, such as "3"',
  },
  CHAIN_ID_COUNT: {
    status: 400,
    say: (e) => `chainIds: must be from 1 to ${e.limit}, not ${e.count}`,
  },
  CHAIN_RECORD_CURSOR_MALFORMED: {
    status: 400,
    say: () => 'after: not a cursor of the list of chain records',
  },
  CHAIN_RECORD_PAGE_SIZE: {
    status: 400,
    say: (e) => `${e.argument}: expected 0 to ${e.limit}, not ${e.value}`,
  },

  PATH_ID_MALFORMED: {
    status: 400,
    say: (e) => `${e.name}: expected 0x and the hexadecimal digits of ${e.bytes} bytes`,
  },
  PATH_SLOT_MALFORMED: {
    status: 400,
    say: (e) => `${e.name}: expected a whole number from 0 to 4294967295`,
  },
  NOT_FOUND: { status: 404, say: (e) => `there is no ${e.what} ${e.id}` },

  SUBMISSION_NOT_ALLOWED: {
    status: 403,
    say: (e) =>
      e.policy === 'closed'
        ? 'submitting blocks is not available for public use'
        : 'submitting blocks needs a valid token in Authorization',
  },
  TRANSACTION_MALFORMED: { status: 400, say: (e) => refusalMessage(e.refusal, 'transaction') },
  BLOCK_MALFORMED: { status: 400, say: (e) => refusalMessage(e.refusal, 'block') },
  VALIDATOR_NOT_IN_COMMITTEE: {
    status: 400,
    say: (e) => `header.issuerId: ${e.issuerId} does not validate in the slot of the block`,
  },
  PARENT_UNKNOWN: {
    status: 400,
    say: (e) => `body: there is no block ${e.blockId} to be a parent`,
  },
  PARENT_NOT_OLDER: {
    status: 400,
    say: (e) =>
      `header.issuingTime: the parent ${e.blockId} was issued at ${e.issuingTime}, not before`,
  },
  REFERENCE_MANA_COST_UNKNOWN: {
    status: 400,
    say: (e) => `header.slotCommitmentId: the price of work in slot ${e.slot} is not known`,
  },
  BURNED_MANA_TOO_LITTLE: {
    status: 400,
    say: (e) => `body.maxBurnedMana: ${e.maxBurnedMana} is less than the block costs, ${e.cost}`,
  },
  ISSUER_IN_DEBT: {
    status: 400,
    say: (e) => `header.issuerId: ${e.issuerId} has ${e.credits} block issuance credits`,
  },
  BLOCK_ISSUED_IN_FUTURE: {
    status: 400,
    say: (e) => `header.issuingTime: ${e.issuingTime} is more than five seconds after ${e.now}`,
  },
  COMMITMENT_UNKNOWN: {
    status: 400,
    say: (e) => `header.slotCommitmentId: there is no commitment ${e.commitmentId}`,
  },
  ISSUER_UNKNOWN: {
    status: 400,
    say: (e) => `header.issuerId: ${e.issuerId} is no account that may issue blocks`,
  },
  ISSUER_EXPIRED: {
    status: 400,
    say: (e) => `header.issuerId: ${e.issuerId} may issue blocks only up to slot ${e.expirySlot}`,
  },
  ISSUER_KEY_UNKNOWN: {
    status: 400,
    say: (e) => `signature.publicKey: ${e.publicKey} is no key of the account ${e.issuerId}`,
  },
  BLOCK_SIGNATURE_INVALID: {
    status: 400,
    say: (e) => `signature: not made over this block with the key ${e.publicKey}`,
  },
  SLOT_CLOSED: {
    status: 400,
    say: (e) => `header.issuingTime: lies in slot ${e.slot}, which is committed already`,
  },
  ISSUER_NOT_CONFIGURED: later(
    () => 'a payload came alone, and this node has no issuer account to build a block around it',
  ),
  INBOX_FULL: later((e) => `${e.waiting} blocks wait already; try again later`),
  SIGNATURE_CHECK_BUSY: later((e) => `${e.waiting} signatures wait already; try again later`),
  CONNECTION_LIMIT: later((e) => `${e.limit} listeners are connected already; try again later`),
  SUBSCRIPTION_LIMIT: later((e) =>
    e.scope === 'connection'
      ? `this connection has ${e.limit} subscriptions already; end one of them, or open another connection`
      : `${e.limit} subscriptions are open already; try again later`,
  ),
  GATEWAY_DRAINING: later(() => 'this gateway is about to stop; try again, or elsewhere'),
  LEDGER_UNAVAILABLE: later((e) => `the ledger cannot take blocks now (${inWords(e.reason)})`),
}

/** The sentence for an error. */
export function messageOf(error: GatewayError): string {
  return faceOf(error.code).say(error)
}

/**
 * The answer of REST: the status and `{ error: { code: status, message } }`. A route whose statuses are a closed list
 * passes it, and every other status then becomes 400, or 500 where it was the server's fault.
 */
export function toRest(error: GatewayError, statuses?: readonly number[]): RestResponse {
  const face = faceOf(error.code)
  const status = statuses === undefined ? face.status : closest(face.status, statuses)
  const body = { error: { code: status, message: face.say(error) } }
  return json(status, body, face.headers?.(error))
}

/** The error of GraphQL: the code and the error's fields in `extensions`. */
export function toGraphQL(error: GatewayError): GraphQLError {
  const { code } = error
  return new GraphQLError(messageOf(error), { extensions: { ...printable(fieldsOf(error)), code } })
}

/** The value of a success; a failure is thrown as a GraphQLError. For resolvers only. */
export function orThrow<T>(result: Result<T, GatewayError>): T {
  if (!result.ok) throw toGraphQL(result.error)
  return result.value
}

/** Every failure of a token is the same to a client: ask for another. */
function unauthorized<C extends AuthError['code']>(say: Face<C>['say']): Face<C> {
  const headers = () => ({ 'www-authenticate': 'Bearer' })
  return { status: 401, say: (e) => `Authorization: ${say(e)}`, headers }
}

/** What may work later: clients are told when to ask again. */
function later<C extends ErrorCode>(say: Face<C>['say']): Face<C> {
  return { status: 503, say, headers: () => ({ 'retry-after': '1' }) }
}

/** Of a Unix time in seconds. */
function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** The table has for each code a face of that code's own error, which a lookup by a variable code cannot show. */
function faceOf(code: ErrorCode): Face<ErrorCode> {
  return faces[code] as Face<ErrorCode>
}

/** A reason that another room names by code. */
function inWords(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ')
}

function closest(status: number, statuses: readonly number[]): number {
  if (statuses.includes(status)) return status
  return status >= 500 ? 500 : 400
}

/** What an error carries besides its code. The broken rule of what is malformed stands among it as `rule`. */
function fieldsOf(error: GatewayError): object {
  if (error.code === 'BLOCK_MALFORMED' || error.code === 'TRANSACTION_MALFORMED') {
    const { code: rule, ...place } = error.refusal
    return { rule, ...place }
  }
  const { code: _, ...fields } = error
  return fields
}

/** Fields as JSON, which has no bigint. */
export function printable(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  )
}
