/** How large a database is, and how busy. */

/** How large a database is, and how much more its disk holds. */
export interface DatabaseSpace {
  readonly databaseBytes: number
  /** `undefined` where the disk is that of another machine. */
  readonly freeBytes: number | undefined
}

/** How busy a database is. */
export interface StoreLoad {
  /** Writing calls that have not ended, the one under way among them. */
  readonly writes: number
  /** Snapshots that are held, and queries that wait for one. */
  readonly snapshots: { readonly held: number; readonly waiting: number }
  /** Connections for reads, and reads that wait for one; `undefined` on SQLite, which has one. */
  readonly pool: PoolLoad | undefined
}

/** How busy a pool of connections is. */
export interface PoolLoad {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}
