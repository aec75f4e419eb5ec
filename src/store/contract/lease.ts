/** The lease of the writing process, as its holder and the other processes see it. */

/** The term of a lease holder. Every new holder increments it. */
export interface LeaseTerm {
  readonly term: number
}

/** Another process holds the lease. */
export interface LeaseHeld {
  readonly code: 'LEASE_HELD'
  readonly term: number
  readonly holder: string
  /** End of the lease: Unix time in milliseconds by the database's clock. */
  readonly until: number
}

export interface LeaseState {
  readonly term: number
  readonly holder: string
  /** Milliseconds until the lease expires, by the database's clock; 0 or less if it has expired. */
  readonly leftMs: number
}

/** Milliseconds until the lease of a gateway expires if it is not renewed. */
export const leaseTtlMs = 3_000

/** Maximum milliseconds of a renewal. An import renews its lease by so much, because its next line may take a while to read. */
export const longestLeaseMs = 10_000

/** Another process has taken the lease, and nothing was written. */
export interface LeaseLost {
  readonly code: 'LEASE_LOST'
  readonly term: number
}
