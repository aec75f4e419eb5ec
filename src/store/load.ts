/** The size and the load of a database. */

/** Size of a database, and free space on its disk. */
export interface DatabaseSpace {
  readonly databaseBytes: number
  /** Free bytes; `undefined` if the disk belongs to another machine. */
  readonly freeBytes: number | undefined
}

/** Current load of a database. */
export interface StoreLoad {
  /** Number of writes that run or wait. */
  readonly writes: number
  /** Number of used snapshots, and of queries that wait for one. */
  readonly snapshots: { readonly held: number; readonly waiting: number }
  /** Load of the read connections; `undefined` on SQLite, which has one connection. */
  readonly pool: PoolLoad | undefined
}

/** Number of open and idle connections of a pool, and of reads that wait for a connection. */
export interface PoolLoad {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}
