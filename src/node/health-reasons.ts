/**
 * The reasons why a gateway is not ready, each with a sentence. `/health/ready`, GraphQL, the metrics, `ledger-gateway status` and
 * docs/operations.md use this list.
 */
export const healthReasons = {
  CLOSING: 'The gateway is about to stop.',
  STARTING:
    'The newest committed slot lags the clock by more than ten seconds, the tries of the ledger are being built, or the writer of a SQLite file has not begun to write.',
  HISTORY_REWOUND:
    'The database lacks data that this process has already read from it; nothing is written until `ledger-gateway restore --accept`.',
  LEASE_LOST:
    'Another process writes to the SQLite file, or the lease of this process has expired.',
  NODE_CONTRADICTED:
    'A node contradicted the committed ledger, and the gateway does not follow nodes until it is restarted.',
  NODE_ANSWER_UNREADABLE: 'A node returned a response that cannot be read; the request is retried.',
  NODES_AWAY: 'No node responds.',
  NODE_UNHEALTHY:
    'The followed node reports that it is not healthy, or it lacks slots that were followed before.',
  CATCHING_UP: 'The node has committed slots that the gateway has not written yet.',
  COMMITMENT_OLD:
    'The process that follows the nodes for this database has not committed a slot for a long time.',
  CLOCK_LEAPT: 'The clock of the machine jumped ahead and may be wrong.',
  CLOCK_BEHIND: 'The clock of the machine is behind the newest committed slot.',
  LEASE_UNCONFIRMED:
    'The lease of the writer could not be read or renewed: the database is unreachable or cannot be written.',
  PRIMARY_AWAY:
    'The primary PostgreSQL server did not respond: reads use a replica where they can, and nothing is written.',
  DATABASE_AWAY: 'The database did not respond within three seconds.',
} as const

/** Why a gateway is not ready. */
export type HealthReason = keyof typeof healthReasons

/** The reasons, in the order of the list. */
export const healthReasonCodes = Object.keys(healthReasons) as readonly HealthReason[]
