import { inWords } from '../../lib/in-words.ts'
import { refusalMessage } from '../../protocol/refusal-message.ts'
import { lineMessage } from '../../tools/read-line.ts'
import { badRequest, type ErrorCode, type ErrorRow, later, tooMany } from './error-row.ts'
import { shortened } from './message-words.ts'
import { nodeErrorRows } from './node-error-rows.ts'
import { tokenErrorRows } from './token-error-rows.ts'

/** The error table: the only place with the status, message and headers of each failure. */

/** The type requires a row for each code. */
const errorTable: { readonly [C in ErrorCode]: ErrorRow<C> } = {
  INTERNAL: { status: 500, message: (e) => `internal server error (request ${e.requestId})` },

  REQUEST_MALFORMED: badRequest((e) => `the request is not valid HTTP: ${e.reason}`),
  REQUEST_HEAD_TOO_LARGE: {
    status: 431,
    message: (e) => `request line and headers: longer than ${e.limit} bytes`,
  },
  REQUEST_TOO_SLOW: {
    status: 408,
    message: (e) => `the request did not arrive within ${e.limitMs / 1_000} seconds`,
  },
  STORE_AWAY: later(
    () =>
      'the database is temporarily unreachable, and the request may have been executed; try again',
  ),
  QUERY_TOO_LONG: later(
    (e) =>
      `the query did not finish within ${e.limitMs / 1_000} seconds; request less data at once`,
  ),

  HOST_NOT_ALLOWED: {
    status: 421,
    message: (e) =>
      `Host: ${shortened(e.host)} is not an allowed name of this gateway; ALLOWED_HOSTS lists the names`,
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    message: (e) => `Origin: pages of ${shortened(e.origin)} may not open a WebSocket here`,
  },
  PATH_UNKNOWN: { status: 404, message: (e) => `the path ${shortened(e.path)} does not exist` },
  PATH_MALFORMED: badRequest(() => 'the path is not percent-encoded UTF-8'),
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: (e) => `the method ${e.method} is not allowed here; allowed methods: ${e.allowed}`,
    headers: (e) => ({ allow: e.allowed }),
  },
  QUERY_MALFORMED: badRequest((e) => `query: ${shortened(e.part)} is not percent-encoded UTF-8`),
  QUERY_PARAMETER_UNKNOWN: badRequest(
    (e) =>
      `query: unknown parameter ${shortened(e.name)}; ${e.known === '' ? 'this route has no parameters' : `known parameters: ${e.known}`}`,
  ),
  QUERY_PARAMETER_REPEATED: badRequest(
    (e) => `query: the parameter ${shortened(e.name)} occurs more than once`,
  ),

  ADDRESS_MALFORMED: badRequest((e) => `${e.argument}: not a Bech32 address: ${inWords(e.reason)}`),
  ADDRESS_OF_ANOTHER_NETWORK: badRequest(
    (e) =>
      `${e.argument}: an address of the network "${shortened(e.hrp)}"; addresses of this network begin with "${e.expected}"`,
  ),
  NODE_ID_MALFORMED: badRequest((e) => `${e.argument}: not a global id of this gateway`),
  CURSOR_MALFORMED: badRequest(
    (e) => `${e.argument}: not a cursor from a response to the same kind of request`,
  ),
  CURSOR_OF_ANOTHER_LOG: {
    status: 410,
    message: (e) =>
      `${e.argument}: a cursor of another log, or of another branch of this log, because the database was replaced or restored; start again without a cursor`,
  },
  CURSOR_AHEAD_OF_TIP: later(
    (e) => `${e.argument}: ahead of the log, which ends at position ${e.tip}; try again later`,
  ),
  CURSOR_EXPIRED: {
    status: 410,
    message: (e) =>
      `${e.argument}: older than the retained log; to skip the updates in between, continue with the cursor ${e.oldestCursor}`,
  },
  PAGE_CURSOR_MALFORMED: badRequest(
    (e) =>
      `query: cursor must have the form milestoneIndex.outputId.isSpent.pageSize${e.part === 'cursor' ? '' : `; its ${e.part} is invalid`}`,
  ),
  PAGE_SIZE_OUT_OF_RANGE: badRequest(
    (e) => `${e.argument}: must be from 0 to ${e.limit}, not ${e.value}`,
  ),
  FEED_ADDRESS_COUNT: badRequest((e) => `addresses: must be from 1 to ${e.limit}, not ${e.count}`),
  FEED_CLASSES_MISSING: badRequest(() => 'classes: must have at least one element'),
  FEED_START_AMBIGUOUS: badRequest(() => 'after: cannot be combined with afterMilestone'),
  FEED_SNAPSHOT_WITHOUT_ADDRESSES: badRequest(
    () => 'snapshot: requires addresses; a snapshot of the whole ledger is not available',
  ),
  ADDRESS_HISTORY_TOO_LONG: badRequest(
    (e) =>
      `milestoneIndex: the address had ${e.updates} updates up to this milestone, more than the limit of ${e.limit}; totalAt has no such limit`,
  ),
  MILESTONE_NOT_COMMITTED: {
    status: 404,
    message: (e) =>
      `${e.argument}: milestone ${e.milestoneIndex} is not committed yet; the newest is ${e.newest}`,
  },
  UPDATE_CLASS_WITHOUT_ADDRESS: badRequest(
    () => 'class: requires an address; updates of all addresses cannot be filtered by class',
  ),
  MILESTONE_RANGE_REVERSED: badRequest(
    (e) => `fromMilestone: ${e.from} is greater than toMilestone ${e.to}`,
  ),
  FILTER_ADDRESS_COUNT: badRequest(
    (e) => `filter.addresses: must have at most ${e.limit} elements, not ${e.count}`,
  ),
  FILTER_NEEDS_UNSPENT: badRequest(
    (e) => `filter: only unspent outputs can be filtered by ${e.members}; set isSpent: false`,
  ),
  FILTER_NOT_LIVE: badRequest(
    (e) => `filter: a subscription cannot filter new blocks by ${e.members}`,
  ),
  FILTER_AMBIGUOUS: badRequest((e) => `filter: use either ${e.members}, not both`),
  QUERY_PARAMETER_MALFORMED: badRequest((e) => `query: ${e.name} must be ${e.expected}`),

  PERSISTED_QUERY_MALFORMED: badRequest(
    () => 'extensions.persistedQuery: expected version 1 and sha256Hash, 64 lower-case hex digits',
  ),
  // Some clients recognise the error by this message alone, and then send the document.
  PERSISTED_QUERY_NOT_FOUND: badRequest(() => 'PersistedQueryNotFound'),
  PERSISTED_QUERY_HASH_MISMATCH: badRequest(
    () => 'extensions.persistedQuery.sha256Hash: not the hash of the document in query',
  ),
  DOCUMENT_NOT_TRUSTED: {
    status: 403,
    message: () => 'query: this gateway executes only the documents that its operator trusts',
  },
  INTROSPECTION_OFF: {
    status: 403,
    message: () => 'query: introspection is turned off on this gateway',
  },
  DOCUMENT_TOO_DEEP: badRequest((e) => `query: nested deeper than ${e.limit} levels`),
  TOO_MANY_LINES: badRequest((e) => `query: more than ${e.limit} lines`),
  NAME_TOO_LONG: badRequest((e) => `query: a name of more than ${e.limit} characters`),
  TOO_MANY_ALIASES: badRequest((e) => `query: more than ${e.limit} aliases`),
  TOO_MANY_VARIABLES: badRequest((e) => `query: more than ${e.limit} variables`),
  TOO_MANY_DIRECTIVES: badRequest((e) => `query: more than ${e.limit} directives`),
  OPERATION_TOO_COSTLY: badRequest(
    (e) =>
      `query: the estimated cost ${e.cost} is more than ${e.limit}, and ${shortened(e.field)} costs the most; request smaller pages or fewer objects`,
  ),
  ANSWER_TOO_LARGE: badRequest(
    (e) =>
      `query: the response has more than ${e.limit} ${e.unit}; request smaller pages or fewer objects`,
  ),
  OPERATION_COST_EXCEEDED: badRequest(
    (e) => `query: the execution cost more than ${e.limit}; request smaller pages or fewer objects`,
  ),
  CLIENT_LEFT: {
    status: 499,
    message: () => 'the client closed the connection before the response was complete',
  },
  BODY_TOO_LARGE: { status: 413, message: (e) => `body: longer than ${e.limit} bytes` },
  BODY_NOT_JSON: badRequest((e) => `body: not JSON: ${e.reason}`),
  TOO_MANY_VALUES: badRequest(
    (e) => `body: more than ${e.limit} values in arrays and objects; send them in several requests`,
  ),
  NOT_ACCEPTABLE: {
    status: 406,
    message: () => 'Accept: must include application/graphql-response+json or application/json',
  },
  CONTENT_ENCODING_REFUSED: {
    status: 415,
    message: () => 'Content-Encoding: compressed bodies are not accepted',
    headers: () => ({ 'accept-encoding': 'identity' }),
  },
  CONTENT_TYPE_REFUSED: badRequest(
    (e) =>
      `Content-Type: expected ${e.expected}, not ${e.given === '' ? 'none' : shortened(e.given)}`,
  ),

  ...tokenErrorRows,

  CHAIN_ID_NOT_BECH32: badRequest((e) => `${e.argument}: not Bech32: ${inWords(e.reason)}`),
  CHAIN_ID_NOT_A_CHAIN: badRequest(
    (e) => `${e.argument}: expected the Bech32 text of an account (8) or anchor (24) address`,
  ),
  CHAIN_RECORD_MALFORMED: badRequest((e) => `${e.member}: expected ${e.expected}`),
  CHAIN_RECORD_UNKNOWN: {
    status: 404,
    message: (e) => `the chain ${shortened(e.chainId)} has no record`,
  },
  CHAIN_RECORD_STALE: {
    status: 412,
    message: (e) =>
      e.version === 0
        ? `the chain ${shortened(e.chainId)} has no record to replace`
        : `the current version of the record of ${shortened(e.chainId)} is ${e.version}`,
  },
  IF_MATCH_MALFORMED: badRequest(
    (e) => `${e.header}: expected * or entity tags of chain records, such as "3"`,
  ),
  CHAIN_ID_COUNT: badRequest((e) => `chainIds: must be from 1 to ${e.limit}, not ${e.count}`),

  PATH_ID_MALFORMED: badRequest(
    (e) => `${e.name}: expected ${e.bytes} bytes as hexadecimal digits with the prefix 0x`,
  ),
  FAUCET_MISSING: { status: 404, message: () => 'this gateway has no faucet' },
  FAUCET_REQUEST_MALFORMED: badRequest((e) => `${e.member}: expected ${e.expected}`),
  FAUCET_AMOUNT_TOO_SMALL: badRequest(
    (e) => `amount: must be at least ${e.least}, the minimum deposit of an output to this address`,
  ),
  FAUCET_PAYMENT_FAILED: later((e) => `the faucet could not pay: ${inWords(e.reason)}`),
  FAUCET_REQUEST_WAITING: badRequest(
    (e) => `address: a request for ${shortened(e.address)} is already queued`,
  ),
  FAUCET_FUNDS_ENOUGH: badRequest(
    (e) => `address: ${shortened(e.address)} already holds ${e.limit} base tokens or more`,
  ),
  FAUCET_BUSY: {
    status: 429,
    message: (e) => `${e.waiting} requests are already queued; try again later`,
    headers: () => ({ 'retry-after': '1' }),
  },
  RANGE_REVERSED: badRequest(
    (e) => `query: ${e.end} must not be before ${e.start}: invalid ${e.of} range`,
  ),
  HISTORY_RANGE_REVERSED: badRequest(() => 'query: to must not be before from'),
  ACTIVITY_RANGE_REVERSED: badRequest(() => 'to: must not be before from'),
  ACTIVITY_RANGE_TOO_WIDE: badRequest(
    (e) => `from: the range has ${e.points} spans; at most ${e.limit} are returned at once`,
  ),
  LEDGER_INDEX_NOT_KEPT: {
    status: 404,
    message: (e) =>
      `balances are available only as of milestone ${e.newest}, not as of milestone ${e.asked}`,
  },
  UPDATES_NOT_KEPT: {
    status: 404,
    message: (e) => `the updates of milestone ${e.slot} are older than the retained log`,
  },
  LEDGER_MOVED: later(() => 'the ledger changed repeatedly while the outputs were read; try again'),
  ADDRESS_OF_ANOTHER_KIND: badRequest(
    (e) => `${e.argument}: expected an address of the kind ${e.expected}`,
  ),
  ADDRESS_NOT_AN_ACCOUNT: badRequest((e) => `${e.argument}: expected the address of an account`),
  EPOCH_NOT_BEGUN: badRequest(
    (e) => `${e.argument}: epoch ${e.epoch} has not begun; the current epoch is ${e.current}`,
  ),
  OUTPUT_EARNS_NOTHING: badRequest(
    (e) => `the output ${e.outputId} is neither a delegation nor an account with stake`,
  ),
  SLOT_BEFORE_GENESIS: badRequest(
    (e) => `slot: ${e.slot} is before the genesis slot ${e.genesisSlot}`,
  ),
  PATH_SLOT_MALFORMED: badRequest((e) => `${e.name}: expected a whole number from 0 to 4294967295`),
  NOT_FOUND: { status: 404, message: (e) => `the ${e.what} ${shortened(e.id)} does not exist` },

  SUBMISSION_NOT_ALLOWED: {
    status: 403,
    message: (e) =>
      e.policy === 'closed'
        ? 'submitting blocks is not available for public use'
        : 'submitting blocks is not available for public use; send a token in Authorization that may submit blocks',
  },
  TRANSACTION_MALFORMED: badRequest((e) => refusalMessage(e.refusal, 'transaction')),
  BLOCK_MALFORMED: badRequest((e) =>
    // Without a path, this code is about a payload that was submitted alone.
    refusalMessage(e.refusal, e.refusal.code === 'TYPE_PAYLOAD' ? 'payload' : 'block'),
  ),
  VALIDATOR_NOT_IN_COMMITTEE: badRequest(
    (e) => `header.issuerId: ${e.issuerId} is not in the committee for the slot of the block`,
  ),
  PARENT_UNKNOWN: badRequest((e) => `body: the parent ${e.blockId} does not exist`),
  PARENT_TOO_OLD: badRequest(
    (e) => `body: the parent ${e.blockId} is older than slot ${e.oldestSlot}`,
  ),
  PARENT_NOT_OLDER: badRequest(
    (e) =>
      `header.issuingTime: not after the parent ${e.blockId}, which was issued at ${e.issuingTime}`,
  ),
  REFERENCE_MANA_COST_UNKNOWN: badRequest(
    (e) => `header.slotCommitmentId: the reference mana cost of slot ${e.slot} is not known`,
  ),
  BURNED_MANA_TOO_LITTLE: badRequest(
    (e) => `body.maxBurnedMana: ${e.maxBurnedMana} is less than the cost of the block, ${e.cost}`,
  ),
  ISSUER_IN_DEBT: badRequest(
    (e) => `header.issuerId: ${e.issuerId} has ${e.credits} block issuance credits`,
  ),
  BLOCK_ISSUED_IN_FUTURE: badRequest(
    (e) => `header.issuingTime: ${e.issuingTime} is more than five seconds after ${e.now}`,
  ),
  COMMITMENT_UNKNOWN: badRequest(
    (e) => `header.slotCommitmentId: the commitment ${e.commitmentId} does not exist`,
  ),
  ISSUER_UNKNOWN: badRequest(
    (e) => `header.issuerId: ${e.issuerId} is not an account that may issue blocks`,
  ),
  ISSUER_EXPIRED: badRequest(
    (e) => `header.issuerId: ${e.issuerId} may issue blocks only up to slot ${e.expirySlot}`,
  ),
  ISSUER_KEY_UNKNOWN: badRequest(
    (e) => `signature.publicKey: ${e.publicKey} is not a key of the account ${e.issuerId}`,
  ),
  BLOCK_SIGNATURE_INVALID: badRequest(
    (e) => `signature: not a signature of this block by the key ${e.publicKey}`,
  ),
  SLOT_CLOSED: badRequest(
    (e) => `header.issuingTime: in slot ${e.slot}, which is already committed`,
  ),
  ANNOUNCEMENT_WITHOUT_BLOCK: badRequest(
    () => 'type: a candidacy announcement must be sent in a block that its validator issues',
  ),
  ISSUER_NOT_CONFIGURED: later(
    () =>
      'a payload was submitted without a block, and this node has no issuer account to build one; submit a block',
  ),
  INBOX_FULL: later((e) => `${e.waiting} blocks are already queued; try again later`),
  SIGNATURE_CHECK_BUSY: later((e) => lineMessage(e)),
  OPERATION_LIMIT: later((e) =>
    e.unit === 'operations'
      ? `none of the ${e.limit} operations is free for this client; try again later`
      : `none of the ${e.limit} bytes of unsent responses is free for this client; try again later`,
  ),
  CONNECTION_LIMIT: later((e) => `${e.limit} subscribers are already connected; try again later`),
  SUBSCRIPTION_LIMIT: later((e) =>
    e.scope === 'connection'
      ? `this connection already has ${e.limit} subscriptions; end one of them, or open another connection`
      : `${e.limit} subscriptions are already open; try again later`,
  ),
  CLIENT_CONNECTION_LIMIT: tooMany(
    (e) => `this client already has ${e.limit} open connections; close one of them`,
  ),
  CLIENT_SUBSCRIPTION_LIMIT: tooMany(
    (e) => `this client already has ${e.limit} open subscriptions; end one of them`,
  ),
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: (e) =>
      e.unit === 'bytes'
        ? `this client has used up its quota of ${e.limit} bytes of blocks a day; try again in ${e.retryAfterSeconds} seconds`
        : e.limit === 0
          ? 'type: a payload was submitted without a block, and this node issues no blocks for clients; submit a block'
          : `type: a payload was submitted without a block, and this node issues only ${e.limit} blocks a day for a client; submit a block, or try again in ${e.retryAfterSeconds} seconds`,
    headers: (e) => ({ 'retry-after': String(e.retryAfterSeconds) }),
  },
  DISK_LOW: later(
    (e) => `the node accepts no new blocks, because its storage is full (${inWords(e.reason)})`,
  ),
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: (e) =>
      `the request costs ${e.cost} units, and the budget of this client has ${e.remaining} left; try again in ${e.retryAfterSeconds} seconds`,
    headers: (e) => ({ 'retry-after': String(e.retryAfterSeconds) }),
  },
  SUBSCRIPTIONS_TOO_COSTLY: badRequest(
    (e) =>
      `query: with this subscription, one event of each subscription on this connection costs ${e.cost} in total, more than ${e.limit}; request less, or end other subscriptions`,
  ),
  EVENTS_NOT_ACCEPTED: {
    status: 406,
    message: () =>
      'the response to a subscription is an event stream: send Accept: text/event-stream, or use WebSocket',
  },
  GATEWAY_OVERLOADED: later(() => 'this gateway is overloaded; try again later'),
  GATEWAY_DRAINING: later(
    () => 'this gateway is about to stop; try again, or connect to another gateway',
  ),
  ...nodeErrorRows,
  COMMITMENT_ROOTS_NOT_READY: later(
    () => 'the roots of the newest commitment are not available yet; try again later',
  ),
  SNAPSHOT_NOT_READY: later(() => 'no slot is available for a snapshot yet; try again later'),
  SNAPSHOT_EXPIRED: {
    status: 410,
    message: (e) =>
      `from: the snapshot of slot ${e.slot} is no longer available; start again without from`,
  },
  LEDGER_UNAVAILABLE: later((e) => `the ledger accepts no blocks now (${inWords(e.reason)})`),
}

/** The REST status of each code. */
export const errorStatuses: ReadonlyMap<string, number> = new Map(
  Object.entries(errorTable).map(([code, { status }]) => [code, status]),
)

/** Returns the row of a code. The type of a row depends on its code, which a lookup by a variable code cannot express. */
export function errorRowOf(code: ErrorCode): ErrorRow<ErrorCode> {
  return errorTable[code] as ErrorRow<ErrorCode>
}
