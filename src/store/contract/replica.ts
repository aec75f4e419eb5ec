/** The status of the read replicas of a database. */

/** The status of the primary and of all read replicas. */
export interface ReplicasStatus {
  /** Whether the primary did not respond to the last check. */
  readonly isPrimaryAway: boolean
  readonly replicas: readonly ReplicaStatus[]
}

export interface ReplicaStatus {
  /** Host and database, without user and password. */
  readonly name: string
  /** `read`: requests and feeds read here. `ready`: they may read here. `left_out`: it is unreachable, too far behind, or no replica. */
  readonly state: (typeof replicaStates)[number]
  /** Age in milliseconds of the oldest data on the primary that the replica lacks; 0 if it lacks none. */
  readonly lagMs: number
}

export const replicaStates = ['read', 'ready', 'left_out'] as const
