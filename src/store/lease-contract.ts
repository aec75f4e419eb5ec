/** The lease of the one process that writes: what its holder and the other processes see of it. */

/** The number under which the lease holder writes; raised by every new holder. */
export interface LeaseTerm {
  readonly term: number
}

/** Another process holds the lease, until a Unix time in milliseconds by the database's clock. */
export interface LeaseHeld {
  readonly code: 'LEASE_HELD'
  readonly term: number
  readonly holder: string
  readonly until: number
}

/** The lease as it is now. */
export interface LeaseState {
  readonly term: number
  readonly holder: string
  /** Milliseconds until it runs out, by the database's clock; not above 0 when it has. */
  readonly leftMs: number
}

/** Another holder has taken over, and nothing was written. */
export interface LeaseLost {
  readonly code: 'LEASE_LOST'
  readonly term: number
}
