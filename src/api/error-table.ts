import { refusalMessage } from '../protocol/refusal-message.ts'
import { badRequest, type ErrorCode, type ErrorRow, later, tooMany } from './error-row.ts'
import { inWords, shortened } from './message-words.ts'
import { tokenErrorRows } from './token-error-rows.ts'

/** The error table: status, message and headers of every failure, written here and nowhere else. */

/** Total by type: a code without a row does not compile. */
const errorTable: { readonly [C in ErrorCode]: ErrorRow<C> } = {
  INTERNAL: { status: 500, message: (e) => `internal server error (request ${e.requestId})` },

  REQUEST_MALFORMED: badRequest((e) => `not HTTP: ${e.reason}`),
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
      'the database is unreachable for the moment, and the request may have been executed; try again',
  ),
  QUERY_TOO_LONG: later(
    (e) => `the query was still reading after ${e.limitMs / 1_000} seconds; ask for less at once`,
  ),

  HOST_NOT_ALLOWED: {
    status: 421,
    message: (e) =>
      `Host: this gateway is not called ${shortened(e.host)}; its names are those of ALLOWED_HOSTS`,
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    message: (e) => `Origin: pages of ${shortened(e.origin)} may not open a WebSocket here`,
  },
  PATH_UNKNOWN: { status: 404, message: (e) => `there is nothing at ${shortened(e.path)}` },
  PATH_MALFORMED: badRequest(() => 'the path is not percent-encoded UTF-8'),
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: (e) => `the method ${e.method} is not allowed here; allowed: ${e.allowed}`,
    headers: (e) => ({ allow: e.allowed }),
  },
  QUERY_MALFORMED: badRequest((e) => `query: ${e.part} is not percent-encoded UTF-8`),
  QUERY_PARAMETER_UNKNOWN: badRequest(
    (e) =>
      `query: ${shortened(e.name)} is unknown; ${e.known === '' ? 'this route knows no parameters' : `known: ${e.known}`}`,
  ),
  QUERY_PARAMETER_REPEATED: badRequest((e) => `query: ${shortened(e.name)} comes more than once`),

  ADDRESS_MALFORMED: badRequest((e) => `${e.argument}: not a Bech32 address: ${inWords(e.reason)}`),
  ADDRESS_OF_ANOTHER_NETWORK: badRequest(
    (e) => `${e.argument}: an address of the network "${e.hrp}"; this one writes "${e.expected}"`,
  ),
  NODE_ID_MALFORMED: badRequest((e) => `${e.argument}: not a global id of this gateway`),
  CURSOR_MALFORMED: badRequest((e) => `${e.argument}: not a cursor of this gateway`),
  CURSOR_OF_ANOTHER_LOG: {
    status: 410,
    message: (e) =>
      `${e.argument}: a cursor of another log, or of another branch of this one: the database was replaced or restored; start again without it`,
  },
  CURSOR_AHEAD_OF_TIP: badRequest(
    (e) => `${e.argument}: the log reaches only to position ${e.tip}; try again later`,
  ),
  CURSOR_EXPIRED: {
    status: 410,
    message: (e) =>
      `${e.argument}: older than the retained log; continue after ${e.oldestCursor}, without the updates between`,
  },
  PAGE_CURSOR_MALFORMED: badRequest(
    (e) =>
      `query: cursor must be milestoneIndex.outputId.isSpent.pageSize${e.part === 'cursor' ? '' : `; its ${e.part} is wrong`}`,
  ),
  PAGE_SIZE_OUT_OF_RANGE: badRequest(
    (e) => `${e.argument}: must be from 0 to ${e.limit}, not ${e.value}`,
  ),
  FEED_ADDRESS_COUNT: badRequest((e) => `addresses: must be from 1 to ${e.limit}, not ${e.count}`),
  FEED_CLASSES_MISSING: badRequest(() => 'classes: at least one is needed'),
  FEED_START_AMBIGUOUS: badRequest(() => 'after: either this or afterMilestone, not both'),
  FEED_SNAPSHOT_WITHOUT_ADDRESSES: badRequest(
    () => 'snapshot: needs addresses; there is no snapshot of the whole ledger',
  ),
  ADDRESS_HISTORY_TOO_LONG: badRequest(
    (e) =>
      `milestoneIndex: the address had ${e.updates} updates until then, and ${e.limit} are read at most; totalAt has no such limit`,
  ),
  MILESTONE_NOT_COMMITTED: {
    status: 404,
    message: (e) =>
      `${e.argument}: milestone ${e.milestoneIndex} is not committed yet; the newest is ${e.newest}`,
  },
  UPDATE_CLASS_WITHOUT_ADDRESS: badRequest(
    () => 'class: needs an address; the updates of all addresses are not kept by class',
  ),
  MILESTONE_RANGE_REVERSED: badRequest(
    (e) => `fromMilestone ${e.from} is behind toMilestone ${e.to}`,
  ),
  FILTER_NEEDS_UNSPENT: badRequest(
    (e) => `filter: ${e.members} are kept of unspent outputs alone; ask with isSpent: false`,
  ),
  FILTER_NOT_LIVE: badRequest((e) => `filter: new blocks are not followed by ${e.members}`),
  FILTER_AMBIGUOUS: badRequest((e) => `filter: either ${e.members}, not both`),
  QUERY_PARAMETER_MALFORMED: badRequest((e) => `query: ${e.name} must be ${e.expected}`),

  PERSISTED_QUERY_MALFORMED: badRequest(
    () => 'extensions.persistedQuery: expected version 1 and sha256Hash, 64 lower-case hex digits',
  ),
  // Some clients know it by this message alone, and then send the document.
  PERSISTED_QUERY_NOT_FOUND: badRequest(() => 'PersistedQueryNotFound'),
  PERSISTED_QUERY_HASH_MISMATCH: badRequest(
    () => 'extensions.persistedQuery.sha256Hash: not that of the document in query',
  ),
  DOCUMENT_NOT_TRUSTED: {
    status: 403,
    message: () => 'query: this gateway answers only the documents that its operator has named',
  },
  INTROSPECTION_OFF: {
    status: 403,
    message: () => 'query: this gateway does not answer introspection',
  },
  DOCUMENT_TOO_DEEP: badRequest((e) => `query: nests deeper than ${e.limit} levels`),
  TOO_MANY_LINES: badRequest((e) => `query: more than ${e.limit} lines`),
  TOO_MANY_ALIASES: badRequest((e) => `query: more than ${e.limit} fields have an alias`),
  TOO_MANY_VARIABLES: badRequest((e) => `query: more than ${e.limit} variables`),
  TOO_MANY_DIRECTIVES: badRequest((e) => `query: more than ${e.limit} directives`),
  OPERATION_TOO_COSTLY: badRequest(
    (e) =>
      `query: costs ${e.cost} if every page is full, most of it for ${shortened(e.field)}, more than ${e.limit}; ask for smaller pages, or for fewer at once`,
  ),
  ANSWER_TOO_LARGE: badRequest(
    (e) =>
      `query: the answer has more than ${e.limit} ${e.unit}; ask for smaller pages, or for fewer at once`,
  ),
  OPERATION_COST_EXCEEDED: badRequest(
    (e) =>
      `query: has cost more than ${e.limit} while it ran; ask for smaller pages, or for fewer at once`,
  ),
  CLIENT_LEFT: { status: 499, message: () => 'the client left before the answer was complete' },
  BODY_TOO_LARGE: { status: 413, message: (e) => `body: longer than ${e.limit} bytes` },
  BODY_NOT_JSON: badRequest((e) => `body: not JSON: ${e.reason}`),
  CONTENT_ENCODING_REFUSED: {
    status: 415,
    message: () => 'Content-Encoding: bodies are taken as they are, without compression',
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
    message: (e) => `there is no record of ${shortened(e.chainId)}`,
  },
  CHAIN_RECORD_STALE: {
    status: 412,
    message: (e) =>
      e.version === 0
        ? `there is no record of ${e.chainId} to replace`
        : `the record of ${e.chainId} is version ${e.version} now`,
  },
  IF_MATCH_MALFORMED: badRequest(
    () => 'If-Match: expected * or tags of chain records, such as "3"',
  ),
  CHAIN_ID_COUNT: badRequest((e) => `chainIds: must be from 1 to ${e.limit}, not ${e.count}`),

  PATH_ID_MALFORMED: badRequest(
    (e) => `${e.name}: expected 0x and the hexadecimal digits of ${e.bytes} bytes`,
  ),
  FAUCET_MISSING: { status: 404, message: () => 'this gateway has no faucet' },
  FAUCET_REQUEST_MALFORMED: badRequest((e) => `${e.member}: expected ${e.expected}`),
  FAUCET_AMOUNT_TOO_SMALL: badRequest(
    (e) => `amount: must be at least ${e.least}, what an output to this address must hold`,
  ),
  FAUCET_PAYMENT_FAILED: later((e) => `the faucet could not pay: ${inWords(e.reason)}`),
  FAUCET_REQUEST_WAITING: badRequest((e) => `address: a request for ${e.address} waits already`),
  FAUCET_FUNDS_ENOUGH: badRequest(
    (e) => `address: ${e.address} has ${e.limit} base tokens or more already`,
  ),
  FAUCET_BUSY: {
    status: 429,
    message: (e) => `${e.waiting} requests wait already; try again later`,
    headers: () => ({ 'retry-after': '1' }),
  },
  RANGE_REVERSED: badRequest(
    (e) => `query: ${e.end} must not lie before ${e.start}: invalid time range`,
  ),
  HISTORY_RANGE_REVERSED: badRequest(() => 'query: to must not lie before from'),
  ACTIVITY_RANGE_REVERSED: badRequest(() => 'to: must not lie before from'),
  ACTIVITY_RANGE_TOO_WIDE: badRequest(
    (e) => `from: ${e.points} spans up to the end; at most ${e.limit} are answered at once`,
  ),
  LEDGER_INDEX_NOT_KEPT: {
    status: 404,
    message: (e) => `balances are kept as of milestone ${e.newest} only, not of ${e.asked}`,
  },
  UPDATES_NOT_KEPT: {
    status: 404,
    message: (e) => `the updates of milestone ${e.slot} are older than the retained log`,
  },
  LEDGER_MOVED: later(() => 'slots are committed faster than the outputs can be read; try again'),
  ADDRESS_OF_ANOTHER_KIND: badRequest(
    (e) => `${e.argument}: not an address of the kind ${e.expected}`,
  ),
  ADDRESS_NOT_AN_ACCOUNT: badRequest((e) => `${e.argument}: not the address of an account`),
  EPOCH_NOT_BEGUN: badRequest(
    (e) => `${e.argument}: epoch ${e.epoch} has not begun; this is epoch ${e.current}`,
  ),
  OUTPUT_EARNS_NOTHING: badRequest(
    (e) => `${e.outputId} is neither a delegation nor an account that stakes`,
  ),
  SLOT_BEFORE_GENESIS: badRequest(
    (e) => `slot: ${e.slot} lies before the genesis, which is slot ${e.genesisSlot}`,
  ),
  PATH_SLOT_MALFORMED: badRequest((e) => `${e.name}: expected a whole number from 0 to 4294967295`),
  NOT_FOUND: { status: 404, message: (e) => `there is no ${e.what} ${e.id}` },

  SUBMISSION_NOT_ALLOWED: {
    status: 403,
    message: (e) =>
      e.policy === 'closed'
        ? 'submitting blocks is not available for public use'
        : 'submitting blocks is not available for public use; it needs a token in Authorization that may submit blocks',
  },
  TRANSACTION_MALFORMED: badRequest((e) => refusalMessage(e.refusal, 'transaction')),
  BLOCK_MALFORMED: badRequest((e) => refusalMessage(e.refusal, 'block')),
  VALIDATOR_NOT_IN_COMMITTEE: badRequest(
    (e) => `header.issuerId: ${e.issuerId} does not validate in the slot of the block`,
  ),
  PARENT_UNKNOWN: badRequest((e) => `body: there is no block ${e.blockId} to be a parent`),
  PARENT_TOO_OLD: badRequest(
    (e) => `body: the parent ${e.blockId} is older than slot ${e.oldestSlot}`,
  ),
  PARENT_NOT_OLDER: badRequest(
    (e) => `header.issuingTime: the parent ${e.blockId} was issued at ${e.issuingTime}, not before`,
  ),
  REFERENCE_MANA_COST_UNKNOWN: badRequest(
    (e) => `header.slotCommitmentId: the price of work in slot ${e.slot} is not known`,
  ),
  BURNED_MANA_TOO_LITTLE: badRequest(
    (e) => `body.maxBurnedMana: ${e.maxBurnedMana} is less than the block costs, ${e.cost}`,
  ),
  ISSUER_IN_DEBT: badRequest(
    (e) => `header.issuerId: ${e.issuerId} has ${e.credits} block issuance credits`,
  ),
  BLOCK_ISSUED_IN_FUTURE: badRequest(
    (e) => `header.issuingTime: ${e.issuingTime} is more than five seconds after ${e.now}`,
  ),
  COMMITMENT_UNKNOWN: badRequest(
    (e) => `header.slotCommitmentId: there is no commitment ${e.commitmentId}`,
  ),
  ISSUER_UNKNOWN: badRequest(
    (e) => `header.issuerId: ${e.issuerId} is no account that may issue blocks`,
  ),
  ISSUER_EXPIRED: badRequest(
    (e) => `header.issuerId: ${e.issuerId} may issue blocks only up to slot ${e.expirySlot}`,
  ),
  ISSUER_KEY_UNKNOWN: badRequest(
    (e) => `signature.publicKey: ${e.publicKey} is no key of the account ${e.issuerId}`,
  ),
  BLOCK_SIGNATURE_INVALID: badRequest(
    (e) => `signature: not made over this block with the key ${e.publicKey}`,
  ),
  SLOT_CLOSED: badRequest(
    (e) => `header.issuingTime: lies in slot ${e.slot}, which is committed already`,
  ),
  ANNOUNCEMENT_WITHOUT_BLOCK: badRequest(
    () => 'type: a candidacy announcement comes in a block of the validator that it speaks for',
  ),
  ISSUER_NOT_CONFIGURED: later(
    () => 'a payload came alone, and this node has no issuer account to build a block around it',
  ),
  INBOX_FULL: later((e) => `${e.waiting} blocks wait already; try again later`),
  SIGNATURE_CHECK_BUSY: later((e) => `${e.waiting} signatures wait already; try again later`),
  OPERATION_LIMIT: later((e) =>
    e.unit === 'operations'
      ? `${e.limit} operations are under way already; try again later`
      : `answers of ${e.limit} bytes wait to be sent already; try again later`,
  ),
  CONNECTION_LIMIT: later((e) => `${e.limit} subscribers are connected already; try again later`),
  SUBSCRIPTION_LIMIT: later((e) =>
    e.scope === 'connection'
      ? `this connection has ${e.limit} subscriptions already; end one of them, or open another connection`
      : `${e.limit} subscriptions are open already; try again later`,
  ),
  CLIENT_CONNECTION_LIMIT: tooMany(
    (e) => `this client has ${e.limit} connections open already; close one of them`,
  ),
  CLIENT_SUBSCRIPTION_LIMIT: tooMany(
    (e) => `this client has ${e.limit} subscriptions open already; end one of them`,
  ),
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: (e) =>
      e.unit === 'bytes'
        ? `this client may add ${e.limit} bytes of blocks a day and has used them up; try again in ${e.retryAfterSeconds} seconds`
        : e.limit === 0
          ? 'type: a payload came alone, and this node signs no blocks for others; submit a block'
          : `type: a payload came alone, and this node signs ${e.limit} blocks a day for a client; submit a block, or try again in ${e.retryAfterSeconds} seconds`,
    headers: (e) => ({ 'retry-after': String(e.retryAfterSeconds) }),
  },
  DISK_LOW: later(
    (e) => `the node takes no new blocks, for its room is used up (${inWords(e.reason)})`,
  ),
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: (e) =>
      `this client has ${e.remaining} units of its share left, and this takes ${e.cost}; try again in ${e.retryAfterSeconds} seconds`,
    headers: (e) => ({ 'retry-after': String(e.retryAfterSeconds) }),
  },
  SUBSCRIPTIONS_TOO_COSTLY: badRequest(
    (e) =>
      `query: with this subscription an event of each on this connection costs ${e.cost}, more than ${e.limit}; ask for less, or end others`,
  ),
  EVENTS_NOT_ACCEPTED: {
    status: 406,
    message: () =>
      'a subscription is answered as a stream of events: send Accept: text/event-stream, or use WebSocket',
  },
  GATEWAY_OVERLOADED: later(() => 'this gateway has too much to do; try again later'),
  GATEWAY_DRAINING: later(() => 'this gateway is about to stop; try again, or elsewhere'),
  REFUSED_BY_NODE: badRequest((e) => `the node refused the block: ${e.reason}`),
  NOT_OFFERED_BY_NODES: {
    status: 501,
    message: (e) => `this gateway follows a node, and nodes do not offer ${e.what}`,
  },
  NOT_TOLD_BY_NODE: later((e) =>
    e.unreadable === undefined
      ? `the upstream node does not give ${e.what} now`
      : `the answer of the upstream node about ${e.what} cannot be read: ${e.unreadable}`,
  ),
  NODE_ANSWER_UNREADABLE: later((e) => {
    const slot = e.slot === undefined ? '' : ` of slot ${e.slot}`
    const output = e.outputId === undefined ? '' : `, output ${e.outputId},`
    return `the answer of node ${e.node} to ${e.path}${slot}${output} cannot be read: ${e.reason}`
  }),
  COMMITMENT_OF_ANOTHER_CHAIN: later(
    (e) =>
      `the node has another commitment to slot ${e.slot} or the one before: ${e.told}, not ${e.expected}`,
  ),
  COMMITMENT_ID_WRONG: later(
    (e) =>
      `the node gives the commitment to slot ${e.slot} the id ${e.told}, and its id is ${e.computed}`,
  ),
  OUTPUT_NOT_NEW: later((e) => `slot ${e.slot} of the node creates ${e.outputId} a second time`),
  OUTPUT_NOT_KNOWN: later(
    (e) => `slot ${e.slot} of the node spends ${e.outputId}, which never existed`,
  ),
  OUTPUT_SPENT_BEFORE: later(
    (e) => `slot ${e.slot} of the node spends ${e.outputId} a second time`,
  ),
  OUTPUT_DIFFERS: later((e) => `the node has given two contents of output ${e.outputId}`),
  OUTPUT_PROOF_WRONG: later((e) => `the proof of output ${e.outputId} does not lead to its id`),
  OUTPUT_PLACE_WRONG: later(
    (e) => `the node has given output ${e.outputId} in slot ${e.slot} and in another`,
  ),
  BASE_TOKENS_UNBALANCED: later(
    (e) => `slot ${e.slot} of the node creates ${e.created} base tokens and spends ${e.consumed}`,
  ),
  COMMITMENT_ROOTS_NOT_READY: later(
    () => 'the roots behind the newest commitment are not there yet; try again later',
  ),
  SNAPSHOT_NOT_READY: later(() => 'there is no slot to make a snapshot of yet; try again later'),
  SNAPSHOT_EXPIRED: {
    status: 410,
    message: (e) => `from: the snapshot of slot ${e.slot} is no longer served; begin without it`,
  },
  LEDGER_UNAVAILABLE: later((e) => `the ledger cannot take blocks now (${inWords(e.reason)})`),
}

/** All codes, with their status on REST. */
export const errorStatuses: ReadonlyMap<string, number> = new Map(
  Object.entries(errorTable).map(([code, { status }]) => [code, status]),
)

/** The row of a code. Each row takes the error of its own code, which a lookup by a variable code cannot express. */
export function errorRowOf(code: ErrorCode): ErrorRow<ErrorCode> {
  return errorTable[code] as ErrorRow<ErrorCode>
}
