import { HistoryRewound } from './history.ts'
import { ShardsIncomplete } from './publish.ts'
import { resultCodeName } from './sql/sqlite/result-codes.ts'

/** Which exceptions of the store are the database's own trouble, and which of them pass. */

/**
 * What is wrong with the database. AWAY: it is restarting, out of reach, full of connections or held up by a lock.
 * NOT_WRITABLE: its disk is full, fails or is read-only, while reads may succeed. DAMAGED: what it holds cannot be
 * read any more, and will not heal by itself. REWOUND: it lacks what was seen of it, so that nothing is written until the
 * operator has accepted that.
 */
export type StoreFault = 'AWAY' | 'NOT_WRITABLE' | 'DAMAGED' | 'REWOUND'

/** The fault that an exception reports; `undefined` for every other exception, which is a bug of ours. */
export function storeFaultOf(failure: unknown): StoreFault | undefined {
  if (failure instanceof HistoryRewound) return 'REWOUND'
  if (failure instanceof ShardsIncomplete) return 'AWAY'
  const { code = '', message = '', cause, meta, errcode } = fieldsOf(failure)
  const { kind = '', originalCode = '' } = fieldsOf(
    fieldsOf(fieldsOf(meta).driverAdapterError).cause ?? cause,
  )
  // What is asked below Prisma fails with the number alone.
  const codes = [originalCode, code, ...(errcode === undefined ? [] : [resultCodeName(errcode)])]
  if (codes.some((one) => damagedCodes.test(one))) return 'DAMAGED'
  if (codes.some((one) => unwritableCodes.test(one))) return 'NOT_WRITABLE'
  const isAway =
    passingKinds.includes(kind) ||
    codes.some((one) => passingClasses.test(one)) ||
    passingCodes.includes(code) ||
    passingMessages.test(message)
  return isAway ? 'AWAY' : undefined
}

/**
 * Whether an exception says that the same call may succeed later, by itself or after disk space was freed. Whether the
 * failed one took effect is then not known.
 */
export function isStoreAway(failure: unknown): boolean {
  const fault = storeFaultOf(failure)
  return fault !== undefined && fault !== 'DAMAGED'
}

/** Whether an exception is a fault of the database, which `fault-log.ts` logs, so that callers need not. */
export function isStoreFault(failure: unknown): boolean {
  return storeFaultOf(failure) !== undefined
}

/** SQLite's result codes, and PostgreSQL's data corrupted, index corrupted. */
const damagedCodes = /^(SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS).*|XX00[12])$/

/**
 * SQLite says of each failed call to the system which one it was; of those only reading leaves writing alone. PostgreSQL:
 * disk full, I/O error, and a server that is read only, as a standby is that clients were led to.
 */
const unwritableCodes = /^(SQLITE_(FULL|READONLY|IOERR(?!_(SHORT_)?READ)).*|53100|58030|25006)$/

/** As the driver adapters sort the errors of their databases; a busy SQLite is a timeout to them. */
const passingKinds: readonly string[] = [
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]

/**
 * SQLSTATE (PostgreSQL manual, appendix A): connection exceptions, insufficient resources, operator intervention; idle
 * in a transaction for too long, serialization failure, deadlock, lock not available. And SQLite's: a file that is locked,
 * or cannot be read or opened, as when the process has no file descriptor left.
 */
const passingClasses =
  /^(08...|53...|57P..|25P03|40001|40P01|55P03|SQLITE_(BUSY|LOCKED|CANTOPEN|IOERR|NOMEM|PROTOCOL).*)$/

/** Of Prisma: not reachable, timed out, closed, no connection free, no transaction begun in time; and of the network. */
const passingCodes: readonly string[] = [
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'EMFILE', 'ENFILE'],
]

/** Of the PostgreSQL driver, which gives these no code; and of Citus, which has no codes of its own for a server that it loses. */
const passingMessages = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error',
    'failure on connection marked as essential',
    'server closed the connection unexpectedly',
    'postmaster was shut down',
  ].join('|'),
)

interface FailureFields {
  readonly code?: string
  readonly message?: string
  readonly kind?: string
  readonly originalCode?: string
  readonly cause?: unknown
  readonly meta?: unknown
  readonly driverAdapterError?: unknown
  readonly errcode?: number
}

/** The members of an exception of ours, Prisma's or the driver's; none of something that is no object. */
function fieldsOf(failure: unknown): FailureFields {
  return typeof failure === 'object' && failure !== null ? failure : {}
}
