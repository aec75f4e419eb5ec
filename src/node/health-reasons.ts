/**
 * Why a gateway is not ready, each with its sentence. `/health/ready`, GraphQL, the metrics, `ledger-gateway status` and
 * docs/operations.md all have them from here.
 */
export const healthReasons = {
  CLOSING: 'The gateway is about to stop.',
  STARTING:
    'The newest committed slot lags the clock by more than ten seconds, the tries of the ledger are being built, or the writer of a SQLite file has not begun to write.',
  HISTORY_REWOUND:
    'The database lacks what this process has seen of it; nothing is written until `ledger-gateway restore --accept`.',
  LEASE_LOST: "Another process writes to the SQLite file, or this one's lease ran out.",
  NODE_CONTRADICTED:
    'A node contradicted what is committed here, and the gateway follows no more until it is restarted.',
  NODE_ANSWER_UNREADABLE: 'An answer of a node cannot be read; it is asked again.',
  NODES_AWAY: 'No node answers.',
  NODE_UNHEALTHY: 'The node that is followed reports itself as not healthy.',
  CATCHING_UP: 'The node has committed slots that are not here yet.',
  COMMITMENT_OLD: 'The process that follows the node for this one has committed nothing for long.',
  CLOCK_LEAPT: 'The clock of the machine leapt ahead and may be wrong.',
  CLOCK_BEHIND: 'The clock of the machine lies behind what is committed.',
  LEASE_UNCONFIRMED:
    'The lease of the writer could not be read or renewed: the database is away, or cannot be written to.',
  PRIMARY_AWAY:
    'The PostgreSQL server that is written did not answer: what can be read is read at a replica, and nothing is written.',
  DATABASE_AWAY: 'The database did not answer, or not within three seconds.',
} as const

/** Why a gateway is not ready. */
export type HealthReason = keyof typeof healthReasons

/** The reasons, in the order in which they are listed. */
export const healthReasonCodes = Object.keys(healthReasons) as readonly HealthReason[]
