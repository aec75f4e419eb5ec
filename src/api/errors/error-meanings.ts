import type { ErrorCode } from './error-row.ts'

/** When each error occurs and what its receiver can do: the descriptions of the enum `ErrorCode`. */

/** The type requires a text for each code. */
export const errorMeanings: { readonly [C in ErrorCode]: string } = {
  INTERNAL:
    'A fault of the gateway. The log of the gateway has the details under requestId; report it to the operator.',
  REQUEST_MALFORMED: 'The bytes of the request are not HTTP. The connection is closed.',
  REQUEST_HEAD_TOO_LARGE:
    'The request line and the headers are too long. Send a long query in the body of a POST.',
  REQUEST_TOO_SLOW: 'The request did not arrive completely in time. Send it again.',
  STORE_AWAY:
    'The database does not respond. A query can be repeated; whether a mutation took effect is not known, so read the state first.',
  QUERY_TOO_LONG: 'The query read for too long. Request fewer or smaller pages.',

  HOST_NOT_ALLOWED:
    'The Host header has a name that the operator did not list in ALLOWED_HOSTS. Use a listed name.',
  ORIGIN_NOT_ALLOWED:
    'A page of another origin opened a WebSocket. The operator allows origins with ALLOWED_ORIGINS.',
  PATH_UNKNOWN: 'REST: no route has the path. /openapi.json lists all routes.',
  PATH_MALFORMED: 'REST: the path is not percent-encoded UTF-8.',
  METHOD_NOT_ALLOWED:
    'The path does not accept the method, such as a mutation by GET. The header Allow lists the methods.',
  QUERY_MALFORMED: 'REST: the query string is not percent-encoded UTF-8.',
  QUERY_PARAMETER_UNKNOWN:
    'REST: the route has no such query parameter. The message lists the known ones.',
  QUERY_PARAMETER_REPEATED: 'REST: a query parameter that may occur once occurs more often.',

  ADDRESS_MALFORMED: 'The text is not a Bech32 address. Check it for typing errors.',
  ADDRESS_OF_ANOTHER_NETWORK:
    'The address has the human-readable part of another network. Use a gateway of that network.',
  NODE_ID_MALFORMED:
    'The text is not a global id of this schema. Pass a value of a field id unchanged.',
  CURSOR_MALFORMED:
    'The text is not a cursor of this list or subscription. Pass a cursor unchanged.',
  CURSOR_OF_ANOTHER_LOG:
    'The cursor belongs to another log: the database was replaced, or an older copy continued differently. Start again without a cursor.',
  CURSOR_AHEAD_OF_TIP:
    'The cursor comes from a gateway that is ahead of this one. Try again in a moment with the same cursor.',
  CURSOR_EXPIRED:
    'The updates after the cursor have been pruned. Continue at oldestCursor with a gap, or start again with a snapshot.',
  PAGE_CURSOR_MALFORMED:
    'REST: the cursor of ledger updates does not have its form. Pass a cursor of a response unchanged.',
  PAGE_SIZE_OUT_OF_RANGE:
    'A page size is negative or above the limit. Request a smaller page and continue after its endCursor.',
  FEED_ADDRESS_COUNT:
    'A feed follows no address or too many. Open several subscriptions, or follow the whole ledger without addresses.',
  FEED_CLASSES_MISSING: 'The list of classes is empty. Name OWNED, MENTIONED or both.',
  FEED_START_AMBIGUOUS: 'The request has after and afterMilestone. Send one of them.',
  FEED_SNAPSHOT_WITHOUT_ADDRESSES:
    'There is no snapshot of the whole ledger in a feed. Name addresses, or read GET /api/gateway/v1/snapshot.',
  ADDRESS_HISTORY_TOO_LONG:
    'The address had too many updates to compute its holdings at a former milestone. totalAt and balanceHistory have no such limit.',
  MILESTONE_NOT_COMMITTED:
    'The milestone is in the future of this gateway. Wait for it with the subscription milestones.',
  UPDATE_CLASS_WITHOUT_ADDRESS:
    'A list of the whole ledger cannot be filtered by class. Name an address, or leave out the class.',
  MILESTONE_RANGE_REVERSED: 'fromMilestone is greater than toMilestone.',
  FILTER_ADDRESS_COUNT: 'The filter has too many addresses. Send several queries.',
  FILTER_NEEDS_UNSPENT:
    'The condition is indexed for unspent outputs only. Add isSpent: false, or filter the results.',
  FILTER_NOT_LIVE:
    'A subscription to new blocks cannot have the condition. Subscribe without it, and filter the events.',
  FILTER_AMBIGUOUS: 'The filter has two conditions that exclude each other. Send one of them.',
  QUERY_PARAMETER_MALFORMED: 'A query parameter or a member of a GraphQL request has a wrong type.',

  PERSISTED_QUERY_MALFORMED:
    'extensions.persistedQuery is not version 1 with a SHA-256 hash in lower-case hexadecimal.',
  PERSISTED_QUERY_NOT_FOUND:
    'The gateway does not have the document of the hash. Send the document together with the hash once.',
  PERSISTED_QUERY_HASH_MISMATCH: 'The hash is not that of the document beside it.',
  DOCUMENT_NOT_TRUSTED:
    'The operator allows only the documents of a file (TRUSTED_DOCUMENTS), and this is none of them.',
  INTROSPECTION_OFF:
    'The operator has turned introspection off. Use the file schema.graphql of the release.',
  DOCUMENT_TOO_DEEP: 'The brackets of the document are nested too deeply. Split it.',
  TOO_MANY_LINES: 'The document has too many lines. Remove line breaks, or split it.',
  NAME_TOO_LONG: 'A name or an enum value of the document has too many characters.',
  TOO_MANY_ALIASES:
    'The document has too many aliases. Request lists or nodes(ids) instead of single objects.',
  TOO_MANY_VARIABLES: 'The document defines too many variables. Use lists or input objects.',
  TOO_MANY_DIRECTIVES: 'The document has too many directives.',
  OPERATION_TOO_COSTLY:
    'The operation could cost too much, if all its pages were full. field names its most expensive field: request smaller pages there.',
  ANSWER_TOO_LARGE: 'The response would be too large. Request smaller pages or fewer fields.',
  OPERATION_COST_EXCEEDED:
    'The operation cost more than the limit while it ran. Request smaller pages or fewer fields.',
  CLIENT_LEFT: 'The client closed the connection. Only logs and metrics show it.',
  BODY_TOO_LARGE: 'The body or the WebSocket message is too long. Split the request.',
  BODY_NOT_JSON: 'The body is not JSON in UTF-8.',
  TOO_MANY_VALUES: 'The JSON has too many values. Split the request.',
  NOT_ACCEPTABLE:
    'The client accepts no media type of GraphQL. Accept application/graphql-response+json.',
  CONTENT_ENCODING_REFUSED: 'The body is compressed. Send it uncompressed.',
  CONTENT_TYPE_REFUSED:
    'The body has another content type than the path accepts. The message names the expected one.',

  TOKEN_MISSING: 'The operation needs a token. Send it in the header Authorization.',
  TOKEN_MALFORMED: 'The token is not a JSON Web Token.',
  TOKEN_UNSIGNED: 'The token has the algorithm none. Get a signed token.',
  TOKEN_ALGORITHM_REFUSED: 'The token is signed with another algorithm than the gateway accepts.',
  TOKEN_KEY_UNKNOWN:
    'The token names a key that the key set of the gateway lacks. Get a new token; keys may have been rotated.',
  TOKEN_SIGNATURE_INVALID: 'The token was signed with another key, or was changed.',
  TOKEN_EXPIRED: 'The token has expired. Get a new one.',
  TOKEN_NOT_YET_VALID: 'The token is valid later. Check the clocks of its issuer and the gateway.',
  TOKEN_CLAIM_MISSING: 'The token lacks a claim that the operator requires.',
  TOKEN_ISSUER_REFUSED: 'The token is from another issuer than JWT_ISSUER.',
  TOKEN_AUDIENCE_REFUSED: 'The token is for another audience than JWT_AUDIENCE.',
  TOKEN_SUBJECT_INVALID: 'The subject of the token is empty, too long or not printable.',
  TOKEN_REVOKED: 'The operator has revoked the token or its subject.',
  PERMISSION_MISSING: 'The token is valid, but does not permit the operation. Get another token.',

  CHAIN_ID_NOT_BECH32: 'The id of a chain is not Bech32. Check it for typing errors.',
  CHAIN_ID_NOT_A_CHAIN: 'The id of a chain is not the address of an account or an anchor.',
  CHAIN_RECORD_MALFORMED: 'A member of the chain record is not as its description requires.',
  CHAIN_RECORD_UNKNOWN: 'REST: the chain has no record, so it cannot be made active or inactive.',
  CHAIN_RECORD_STALE:
    'Another version of the chain record is current, and nothing was changed. Read the record, and decide again.',
  IF_MATCH_MALFORMED: 'REST: the header is not an entity tag of a chain record.',
  CHAIN_ID_COUNT: 'A subscription names no chain or too many. Leave out chainIds to follow all.',

  PATH_ID_MALFORMED: 'REST: an id in the path is not hexadecimal or has a wrong length.',
  FAUCET_MISSING: 'The gateway has no faucet: only a development network has one.',
  FAUCET_REQUEST_MALFORMED: 'REST: the body lacks an address, or has an invalid amount.',
  FAUCET_AMOUNT_TOO_SMALL: 'The amount is below the storage deposit of an output. least is enough.',
  FAUCET_PAYMENT_FAILED: 'The faucet could not pay. Try again later.',
  FAUCET_REQUEST_WAITING: 'A request for the address is already queued. Wait for its payment.',
  FAUCET_FUNDS_ENOUGH: 'The address holds enough. Ask for an amount, or spend some.',
  FAUCET_BUSY: 'Too many requests are queued. Try again later.',
  RANGE_REVERSED: 'REST: the end of a range is before its start.',
  HISTORY_RANGE_REVERSED: 'REST: to is before from.',
  ACTIVITY_RANGE_REVERSED: 'to is before from.',
  ACTIVITY_RANGE_TOO_WIDE:
    'The period has too many spans. Request a shorter period or a coarser resolution.',
  LEDGER_INDEX_NOT_KEPT: 'REST: balances are known as of the newest milestone only.',
  UPDATES_NOT_KEPT:
    'The updates of the milestone have been pruned (LOG_RETENTION), or the ledger began with a later snapshot.',
  LEDGER_MOVED: 'REST: the ledger changed repeatedly during the read. Try again.',
  ADDRESS_OF_ANOTHER_KIND: 'REST: the route needs an address of another kind.',
  ADDRESS_NOT_AN_ACCOUNT: 'REST: the route needs the address of an account.',
  EPOCH_NOT_BEGUN: 'The epoch is in the future.',
  OUTPUT_EARNS_NOTHING: 'REST: the output is neither a delegation nor an account with stake.',
  SLOT_BEFORE_GENESIS: 'REST: the slot is before the genesis.',
  PATH_SLOT_MALFORMED: 'REST: a slot in the path is not a whole number of 32 bits.',
  NOT_FOUND: 'REST: no object has the id. In GraphQL its field is null.',

  SUBMISSION_NOT_ALLOWED:
    'The operator has closed submissions, or allows them with a token only (SUBMIT).',
  TRANSACTION_MALFORMED:
    'The transaction breaks a syntactic rule: rule, and path or offset, say which and where. Another transaction is needed.',
  BLOCK_MALFORMED:
    'The block breaks a syntactic rule: rule, and path or offset, say which and where. Another block is needed.',
  VALIDATOR_NOT_IN_COMMITTEE:
    'The issuer of the validation block is not in the committee of its slot.',
  PARENT_UNKNOWN:
    'A parent of the block is not known here. GET /api/core/v3/blocks/issuance returns parents.',
  PARENT_TOO_OLD: 'A parent of the block is too old. Issue a block with newer parents.',
  PARENT_NOT_OLDER: 'The block was issued no later than one of its parents. Check the clock.',
  REFERENCE_MANA_COST_UNKNOWN:
    'The mana cost in the commitment of the block is no longer known. Refer to a newer commitment.',
  BURNED_MANA_TOO_LITTLE: 'maxBurnedMana is below the cost of the block. cost is enough.',
  ISSUER_IN_DEBT:
    'The issuer has negative block issuance credits. Allot mana to it, in a block of another issuer.',
  BLOCK_ISSUED_IN_FUTURE:
    'The issuing time is more than five seconds in the future. Check the clock.',
  COMMITMENT_UNKNOWN: 'The block refers to a commitment that this ledger does not have.',
  ISSUER_UNKNOWN:
    'The issuer was no account that may issue blocks in the slot of the commitment. Refer to a newer commitment if it is new.',
  ISSUER_EXPIRED:
    'The right of the issuer to issue blocks has expired. Extend it, in a block of another issuer.',
  ISSUER_KEY_UNKNOWN: 'The account does not have the key that signed the block.',
  BLOCK_SIGNATURE_INVALID: 'The signature does not match the block and the key.',
  SLOT_CLOSED:
    'The slot of the issuing time is committed. Issue the block again with the time now.',
  ANNOUNCEMENT_WITHOUT_BLOCK:
    'A candidacy needs a block of its validator. Submit the complete block.',
  ISSUER_NOT_CONFIGURED: 'The node cannot build a block for a payload. Submit a complete block.',
  INBOX_FULL: 'Too many blocks wait to be booked. Submit the block again later.',
  SIGNATURE_CHECK_BUSY: 'Too many signatures wait to be checked. Try again later.',
  OPERATION_LIMIT:
    'Too many operations run, or too many bytes of responses wait to be sent. Try again later.',
  CONNECTION_LIMIT:
    'The gateway has too many connections (MAX_CONNECTIONS). Try again later, or use another gateway.',
  SUBSCRIPTION_LIMIT:
    'The connection or the gateway (scope) has too many subscriptions. End one, or use another connection.',
  CLIENT_CONNECTION_LIMIT:
    'The client has too many connections. Use several subscriptions on one WebSocket.',
  CLIENT_SUBSCRIPTION_LIMIT: 'The client has too many subscriptions. End one of them.',
  DAILY_QUOTA_EXCEEDED:
    'The client has used up its daily quota. Try again after retryAfterSeconds.',
  DISK_LOW: 'The storage of the gateway is full. The operator has to free or allow more of it.',
  RATE_LIMIT_EXCEEDED:
    'The client has used up its budget (CLIENT_COST). Try again after retryAfterSeconds, or request less.',
  SUBSCRIPTIONS_TOO_COSTLY:
    'The subscriptions of the connection select too much in total. Select fewer fields, or use another connection.',
  EVENTS_NOT_ACCEPTED:
    'A subscription over HTTP needs Accept: text/event-stream. WebSocket is the alternative.',
  GATEWAY_OVERLOADED: 'The gateway is overloaded (MAX_LOOP_DELAY). Try again later.',
  GATEWAY_DRAINING: 'The gateway is about to stop. Connect again, with the same cursor.',

  REFUSED_BY_NODE: 'The upstream node refused the block, for the reason in the message.',
  NOT_OFFERED_BY_NODES: 'In upstream mode: nodes do not offer the data. A retry is useless.',
  NOT_KEPT_BY_NODE: 'In upstream mode: the node no longer has the object. A retry is useless.',
  NOT_TOLD_BY_NODE: 'In upstream mode: the node does not return the data now. Try again later.',
  NODE_ANSWER_UNREADABLE:
    'In upstream mode: a response of the node cannot be read. It is requested again.',
  COMMITMENT_OF_ANOTHER_CHAIN: contradiction('has another commitment than the committed one'),
  COMMITMENT_ID_WRONG: contradiction('reports a commitment whose id is not its hash'),
  OUTPUT_NOT_NEW: contradiction('creates an output a second time'),
  OUTPUT_NOT_KNOWN: contradiction('spends an output that does not exist'),
  OUTPUT_SPENT_BEFORE: contradiction('spends an output a second time'),
  OUTPUT_DIFFERS: contradiction('returned two contents of an output'),
  OUTPUT_PROOF_WRONG: contradiction('returned an output whose proof is wrong'),
  OUTPUT_PLACE_WRONG: contradiction('returned an output for two slots'),
  BASE_TOKENS_UNBALANCED: contradiction('creates other base tokens than it spends'),

  COMMITMENT_ROOTS_NOT_READY: 'The roots of the newest commitment are not known yet. Try again.',
  SNAPSHOT_NOT_READY: 'REST: no slot is available for a snapshot yet. Try again later.',
  SNAPSHOT_EXPIRED: 'REST: the snapshot has changed meanwhile. Start again without from.',
  LEDGER_UNAVAILABLE:
    'The ledger accepts no blocks now, for the reason in the message and in health. Try again later.',
}

/** The text of an error that stops a gateway in upstream mode. `Health` and the log of the gateway report it. */
function contradiction(what: string): string {
  return `In upstream mode: the node ${what}. The gateway follows no node until its operator restarts it.`
}
