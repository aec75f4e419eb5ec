import { inSpan, traceNow } from '../lib/tracing.ts'

/** When the newest commits became known to this process, so that the delay of their updates is measured and traced. */

/** The newest commits. */
export interface CommitMarks {
  /** Called when a commit becomes known, with the newest position of the log. */
  committed(seq: number): void
  /** Sends the rows up to a position. Of rows that are not new, such as those that a feed catches up on, nothing is measured. */
  deliver(upTo: number, send: () => Promise<void>): Promise<void>
}

interface Mark {
  readonly seq: number
  /** By the monotonic clock, in milliseconds. */
  readonly at: number
  readonly trace: ReturnType<typeof traceNow>
}

/** `onDelivered` is called with the milliseconds from a commit until its rows were given to the sockets of a group of feeds. */
export function createCommitMarks(onDelivered: (ms: number) => void): CommitMarks {
  const marks: Mark[] = []

  function committed(seq: number): void {
    const newest = marks.at(-1)
    // The notification of PostgreSQL names a commit again that this process made.
    if (newest !== undefined && seq <= newest.seq) return
    marks.push({ seq, at: performance.now(), trace: traceNow() })
    if (marks.length > mostMarks) marks.shift()
  }

  async function deliver(upTo: number, send: () => Promise<void>): Promise<void> {
    const oldest = marks[0]
    // A feed may read a commit before it is announced: from then on it is known.
    if (oldest !== undefined) committed(upTo)
    const mark = oldest && upTo > oldest.seq ? marks.find(({ seq }) => seq >= upTo) : undefined
    if (mark === undefined) return send()
    await inSpan('feed deliver', send, { parent: mark.trace })
    onDelivered(performance.now() - mark.at)
  }

  return { committed, deliver }
}

/** Slots of some seconds: what takes longer is no delay of a feed at the tip. */
const mostMarks = 32
