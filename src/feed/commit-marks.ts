import { inSpan, traceNow } from '../lib/tracing.ts'

/** Times at which the newest commits became known to this process, to measure and trace the delay of their updates. */

/** Records commits and measures the delivery of their rows. */
export interface CommitMarks {
  /** Records a commit with the newest position of the log. */
  committed(seq: number): void
  /** Sends the rows up to a position. Only the delay of new rows is measured, not that of rows with which a feed catches up. */
  deliver(upTo: number, send: () => Promise<void>): Promise<void>
}

interface Mark {
  readonly seq: number
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  readonly trace: ReturnType<typeof traceNow>
}

/** Calls `onDelivered` with the milliseconds from a commit until its rows were written to the sockets of a group of feeds. */
export function createCommitMarks(onDelivered: (ms: number) => void): CommitMarks {
  const marks: Mark[] = []

  function committed(seq: number): void {
    const newest = marks.at(-1)
    // PostgreSQL also notifies this process of its own commits.
    if (newest !== undefined && seq <= newest.seq) return
    marks.push({ seq, at: performance.now(), trace: traceNow() })
    if (marks.length > maxMarks) marks.shift()
  }

  async function deliver(upTo: number, send: () => Promise<void>): Promise<void> {
    const oldest = marks[0]
    // A feed may read a commit before its notification arrives: record the commit now.
    if (oldest !== undefined) committed(upTo)
    const mark = oldest && upTo > oldest.seq ? marks.find(({ seq }) => seq >= upTo) : undefined
    if (mark === undefined) return send()
    await inSpan('feed deliver', send, { parent: mark.trace })
    onDelivered(performance.now() - mark.at)
  }

  return { committed, deliver }
}

/** Maximum number of recorded commits, some seconds each. A longer delay is not that of a feed at the tip. */
const maxMarks = 32
