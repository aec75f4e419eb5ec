/** Which exceptions of the store pass by themselves. */

/**
 * Whether an exception says that the database is away, restarting, full of connections or held up by a lock: the same
 * call may succeed a moment later. Whether the failed one took effect is then not known.
 */
export function isStoreAway(failure: unknown): boolean {
  const { code = '', message = '', cause, meta } = fieldsOf(failure)
  const { kind = '', originalCode = '' } = fieldsOf(
    fieldsOf(fieldsOf(meta).driverAdapterError).cause ?? cause,
  )
  return (
    passingKinds.includes(kind) ||
    passingClasses.test(originalCode) ||
    passingClasses.test(code) ||
    passingCodes.includes(code) ||
    passingMessages.test(message)
  )
}

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
 * in a transaction for too long, serialization failure, deadlock, lock not available.
 */
const passingClasses = /^(08...|53...|57P..|25P03|40001|40P01|55P03)$/

/** Of Prisma: not reachable, timed out, closed, no connection free, no transaction begun in time; and of the network. */
const passingCodes: readonly string[] = [
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'],
]

/** Of the PostgreSQL driver, which gives these no code. */
const passingMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/

interface FailureFields {
  readonly code?: string
  readonly message?: string
  readonly kind?: string
  readonly originalCode?: string
  readonly cause?: unknown
  readonly meta?: unknown
  readonly driverAdapterError?: unknown
}

/** The members of an exception of ours, Prisma's or the driver's; none of something that is no object. */
function fieldsOf(failure: unknown): FailureFields {
  return typeof failure === 'object' && failure !== null ? failure : {}
}
