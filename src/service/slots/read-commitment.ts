import type { LedgerOutput } from '../../ledger/output-parts.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import { noCommitment } from '../../protocol/node-responses.ts'
import { Output } from '../../protocol/outputs.ts'
import type { CommitmentId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { Milestone, OutputPage, OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** Slot commitments and the outputs that their slots changed, in the form of the node API (rest.md 4.1). */

/** A committed slot as the store returns it. */
export type CommittedSlotRow = Milestone

/** Identifies a commitment by its id or its slot; an id of zeros means the newest. */
export type CommitmentName = CommitmentId | SlotIndex

/** Finds a commitment; an id of zeros means the newest commitment, as in a node. */
export function findCommitment(
  deps: Pick<Services, 'store'>,
  name: CommitmentName,
): Promise<Milestone | undefined> {
  return name === noCommitment ? deps.store.read.latestMilestone() : findMilestone(deps, name)
}

/** Finds a commitment by its exact id or its slot. */
export function findMilestone(
  { store }: Pick<Services, 'store'>,
  name: CommitmentName,
): Promise<Milestone | undefined> {
  return typeof name === 'number'
    ? store.read.milestone(name)
    : store.read.milestoneByCommitment(name)
}

/** Decodes a stored commitment. */
export function decodeCommitment({ bytes }: Pick<Milestone, 'bytes'>): SlotCommitment {
  return decodeStored(SlotCommitment, bytes)
}

/** An output that a slot changed, as the store returns it. */
export type ChangedOutput = OutputRow

/**
 * The outputs that a committed slot created and consumed, each list by output id. An output that the slot created and spent is
 * in both lists. A list may have any number of outputs; each iteration reads it again.
 */
export interface SlotChanges {
  readonly created: AsyncIterable<readonly ChangedOutput[]>
  readonly consumed: AsyncIterable<readonly ChangedOutput[]>
  /** Whether both lists are completely in memory. */
  readonly isSmall: boolean
}

/** Starts to read the outputs that a slot changed. */
export async function openSlotChanges(
  { store: { read } }: Pick<Services, 'store'>,
  slot: SlotIndex,
): Promise<SlotChanges> {
  const created = (after?: OutputId) => read.createdPage(slot, after)
  const consumed = (after?: OutputId) => read.spentPage(slot, after)
  const firsts = await Promise.all([created(), consumed()])
  return {
    created: { [Symbol.asyncIterator]: () => pagesBehind(firsts[0], created) },
    consumed: { [Symbol.asyncIterator]: () => pagesBehind(firsts[1], consumed) },
    isSmall: firsts.every(({ isLast }) => isLast),
  }
}

async function* pagesBehind(
  first: OutputPage,
  read: (after: OutputId | undefined) => Promise<OutputPage>,
): AsyncGenerator<readonly ChangedOutput[]> {
  for (let page = first; ; page = await read(page.rows.at(-1)?.outputId)) {
    yield page.rows
    if (page.isLast) return
  }
}

export function outputWithId({ outputId, bytes }: OutputRow): LedgerOutput {
  return { outputId, output: decodeStored(Output, bytes) }
}
