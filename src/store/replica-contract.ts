/** How the read replicas of a database do. */

/** Which server is read. */
export interface ReplicasStatus {
  /** Whether the server that is written did not answer when it was asked last. */
  readonly isPrimaryAway: boolean
  readonly replicas: readonly ReplicaStatus[]
}

/** One of them. */
export interface ReplicaStatus {
  /** Host and database, without user and password. */
  readonly name: string
  /** `read`: requests and feeds read there. `ready`: they may. `left_out`: it is away, too far behind, or no replica. */
  readonly state: (typeof replicaStates)[number]
  /** For how long the primary has had what it lacks; 0 where it lacks nothing. */
  readonly lagMs: number
}

/** The states of a replica. */
export const replicaStates = ['read', 'ready', 'left_out'] as const
