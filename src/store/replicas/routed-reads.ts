import { afterCall } from '../../lib/after-call.ts'
import { slotOfId } from '../../protocol/ids.ts'
import type { CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import type { NamedPosition, StoreReader, StoreSnapshot, StoreWriter } from '../contract.ts'
import { storeFaultOf } from '../faults.ts'
import type { Choice } from './choice.ts'
import type { SeenTip } from './moves.ts'
import { recordedReads } from './recorded-reads.ts'
import type { Server } from './server.ts'

/** Reads of a store from the chosen server, and writes whose results these reads must include. */

/** Creates the reads. Each runs on the server that is chosen when it begins. */
export function routedReads(choice: Choice): StoreReader {
  const { primary, use } = choice
  const names = Object.keys(primary.server.read) as (keyof StoreReader)[]
  const all = names.map((name) => [
    name,
    (...args: readonly unknown[]) =>
      use(async ({ read }): Promise<unknown> => Reflect.apply(read[name], read, args)),
  ])
  const routed: StoreReader = Object.fromEntries(all)
  const read: StoreReader = { ...routed, ...recordedReads(routed, choice) }
  return {
    ...read,
    ...reachingReads(read, reach),
    reach,
    forget: () => {
      for (const { server } of [primary, ...choice.replicas]) server.read.forget()
    },
  }

  async function reach(position: NamedPosition): Promise<void> {
    if (choice.current() === primary || isBefore(choice.newestTip(), position)) return
    if (await use((server) => hasReached(server.read, position))) return
    const isThere = await hasReached(primary.server.read, position).catch(() => false)
    if (isThere) await choice.raise()
  }
}

/** Creates snapshots on the chosen server. */
export function routedSnapshot(choice: Choice, routed: StoreReader): () => Promise<StoreSnapshot> {
  return async () => {
    let server = choice.current().server
    const begun = await choice.use(async (chosen) => {
      server = chosen
      const snapshot = await chosen.snapshot()
      if (chosen === choice.primary.server) await fixMoment(choice, snapshot)
      return snapshot
    })
    const recorded = recordedReads(begun.read, choice)
    if (server === choice.primary.server) return { ...begun, read: { ...begun.read, ...recorded } }
    return atReplica(choice, routed, { server, begun, recorded })
  }
}

/**
 * Reads the tip of a snapshot of the primary, because the first read determines its moment. Otherwise the reads could move to a replica
 * first, and the query would show what that replica lacks.
 */
async function fixMoment(choice: Choice, { read, end }: StoreSnapshot): Promise<void> {
  try {
    await recordedReads(read, choice).logTip()
  } catch (failure) {
    end()
    throw failure
  }
}

interface BegunAt {
  readonly server: Server
  readonly begun: StoreSnapshot
  readonly recorded: ReturnType<typeof recordedReads>
}

/** Wraps a snapshot of a replica. It records requested positions that it may lack, and whether the server was lost. */
function atReplica(
  choice: Choice,
  routed: StoreReader,
  { server, begun, recorded }: BegunAt,
): StoreSnapshot {
  const named: NamedPosition[] = []
  let isLost = false
  const note = async (position: NamedPosition) => {
    if (!isBefore(choice.newestTip(), position)) named.push(position)
  }
  const failed = (failure: unknown) => {
    // The server is lost, or it cancelled the read because it was about to remove the rows.
    if (storeFaultOf(failure) !== undefined) isLost = true
  }
  const own = { ...recorded, ...reachingReads(recorded, note), reach: note }
  const read = new Proxy(begun.read, {
    get: (target, name) => {
      const member: unknown = Reflect.get(name in own ? own : target, name)
      if (typeof member !== 'function') return member
      return (...args: readonly unknown[]) => {
        const result: unknown = Reflect.apply(member, target, args)
        if (result instanceof Promise) result.catch(failed)
        return result
      }
    },
  })

  async function isStale(): Promise<boolean> {
    if (isLost || !choice.replicas.some((target) => target.server === server)) return true
    for (const position of named) {
      if (await hasReached(begun.read, position)) continue
      await routed.reach(position)
      if (await hasReached(routed, position)) return true
    }
    return false
  }

  return { read, isStale, end: begun.end }
}

type ReadsByName = Pick<
  StoreReader,
  'milestone' | 'milestoneByCommitment' | 'milestonesAt' | 'milestonesByCommitments'
>

/** Reads of milestones by slot or commitment. Each calls `reach` with the newest requested slot first. */
function reachingReads(read: ReadsByName, reach: StoreReader['reach']): ReadsByName {
  const newest = (slots: readonly SlotIndex[]) => reach({ slot: Math.max(0, ...slots) })
  const slotsOf = (ids: readonly CommitmentId[]) => ids.map((id) => slotOfId(id))
  return {
    milestone: async (slot) => {
      await newest([slot])
      return await read.milestone(slot)
    },
    milestoneByCommitment: async (id) => {
      await newest(slotsOf([id]))
      return await read.milestoneByCommitment(id)
    },
    milestonesAt: async (slots) => {
      await newest(slots)
      return await read.milestonesAt(slots)
    },
    milestonesByCommitments: async (ids) => {
      await newest(slotsOf(ids))
      return await read.milestonesByCommitments(ids)
    },
  }
}

/** Whether a position is not after a tip that was read, so that every later read includes it. */
function isBefore(tip: SeenTip | undefined, { seq = 0, slot = 0, change }: NamedPosition): boolean {
  return change === undefined && tip !== undefined && seq <= tip.seq && slot <= tip.slot
}

async function hasReached(
  read: Pick<StoreReader, 'logTip' | 'latestChainRecordChange'>,
  { seq, slot, change }: NamedPosition,
): Promise<boolean> {
  if (change !== undefined) return (await read.latestChainRecordChange()) >= change
  const tip = await read.logTip()
  return tip.seq >= (seq ?? 0) && tip.slot >= (slot ?? 0)
}

/** Wraps writes so that every read that begins after an acknowledged write includes it. */
export function acknowledgedWrites(write: StoreWriter, choice: Pick<Choice, 'raise'>): StoreWriter {
  const { acceptBlocks, setChainRecord, replaceChainRecord, storeFinalBlocks } = write
  return {
    ...write,
    acceptBlocks: afterCall(acceptBlocks, choice.raise),
    storeFinalBlocks: afterCall(storeFinalBlocks, choice.raise),
    setChainRecord: afterCall(setChainRecord, choice.raise),
    replaceChainRecord: afterCall(replaceChainRecord, choice.raise),
  }
}
