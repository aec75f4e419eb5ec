import { HistoryRewound } from './history-guard.ts'
import { ColumnUnreadable } from './json-columns.ts'
import { resultCodeName } from './sql/sqlite/result-codes.ts'
import { ShardsIncomplete } from './write/publish.ts'

/** Classifies exceptions of the store: faults of the database, and which of them are temporary. */

/**
 * A fault of the database. AWAY: it is restarting, unreachable, out of connections or blocked by a lock. NOT_WRITABLE: its disk is full,
 * failing or read-only, while reads may succeed. DAMAGED: its data cannot be read, and this will not pass by itself. REWOUND: it lacks
 * rows that this process has seen, so nothing is written until the operator accepts the loss.
 */
export type StoreFault = 'AWAY' | 'NOT_WRITABLE' | 'DAMAGED' | 'REWOUND'

/** Returns the fault that an exception reports; `undefined` for every other exception, which is a bug of this program. */
export function storeFaultOf(failure: unknown): StoreFault | undefined {
  if (failure instanceof HistoryRewound) return 'REWOUND'
  if (failure instanceof ShardsIncomplete) return 'AWAY'
  if (failure instanceof ColumnUnreadable) return 'DAMAGED'
  const {
    code = '',
    message = '',
    cause,
    meta,
    errcode,
    syscall,
    clientVersion,
  } = fieldsOf(failure)
  const { kind = '', originalCode = '' } = fieldsOf(
    fieldsOf(fieldsOf(meta).driverAdapterError).cause ?? cause,
  )
  // Statements that bypass Prisma fail with only the number.
  const codes = [originalCode, code, ...(errcode === undefined ? [] : [resultCodeName(errcode)])]
  if (codes.some((one) => damagedCodes.test(one))) return 'DAMAGED'
  if (codes.some((one) => unwritableCodes.test(one))) return 'NOT_WRITABLE'
  // Prisma passes on the code of a failed connection, without the call.
  const isOfConnection = syscall === 'connect' || clientVersion !== undefined
  const isAway =
    passingKinds.includes(kind) ||
    codes.some((one) => passingClasses.test(one)) ||
    passingCodes.includes(code) ||
    // The Unix socket of a server that has stopped.
    (code === 'ENOENT' && isOfConnection) ||
    passingMessages.test(message)
  return isAway ? 'AWAY' : undefined
}

/**
 * Whether the same call may succeed later, by itself or after disk space was freed. It is then unknown whether the failed call took
 * effect.
 */
export function isStoreAway(failure: unknown): boolean {
  const fault = storeFaultOf(failure)
  return fault !== undefined && fault !== 'DAMAGED'
}

/** Whether an exception is a fault of the database. `fault-log.ts` logs these, so callers need not. */
export function isStoreFault(failure: unknown): boolean {
  return storeFaultOf(failure) !== undefined
}

/** Whether a statement of PostgreSQL failed because another session holds a lock (lock_not_available, deadlock_detected). */
export function isLockedOut(failure: unknown): boolean {
  const { originalCode } = fieldsOf(fieldsOf(failure).cause)
  return originalCode === '55P03' || originalCode === '40P01'
}

/** Result codes of SQLite, and data_corrupted and index_corrupted of PostgreSQL. */
const damagedCodes = /^(SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS).*|XX00[12])$/

/**
 * SQLite has a code for each system call that can fail, and all of them except failed reads prevent writes. PostgreSQL: disk_full,
 * io_error, read_only_sql_transaction, which a standby reports if clients were directed to it, and insufficient_privilege.
 */
const unwritableCodes =
  /^(SQLITE_(FULL|READONLY|IOERR(?!_(SHORT_)?READ)).*|53100|58030|25006|42501)$/

/** Error kinds of the driver adapters. They report a busy SQLite as a timeout. */
const passingKinds: readonly string[] = [
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]

/**
 * SQLSTATE codes (PostgreSQL manual, appendix A): connection exceptions, a refused role or password, a missing database, insufficient
 * resources, operator intervention (a statement that was cancelled or timed out too); idle transaction timeout, transaction timeout,
 * serialization failure, deadlock, lock not available. SQLite codes: a file that is locked, or that cannot be read or opened, for example
 * because the process has no file descriptor left.
 */
const passingClasses =
  /^(08...|28...|3D000|53...|57...|25P0[34]|40001|40P01|55P03|SQLITE_(BUSY|LOCKED|CANTOPEN|IOERR|NOMEM|PROTOCOL).*)$/

/** Prisma codes: unreachable, timed out, closed, no free connection, no transaction begun in time. Network codes follow. */
const passingCodes: readonly string[] = [
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'EMFILE', 'ENFILE'],
  ...['ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'],
]

/** Messages of the PostgreSQL driver that have no code, and of Citus, which has no codes for a lost server. */
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
  readonly syscall?: string
  readonly clientVersion?: string
}

/** Returns the members of an exception of this program, of Prisma or of a driver; an empty object for a value of another type. */
function fieldsOf(failure: unknown): FailureFields {
  return typeof failure === 'object' && failure !== null ? failure : {}
}
