import { assert } from '../../lib/assert.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import { noCommitment } from '../../protocol/node-answers.ts'
import { Output } from '../../protocol/outputs.ts'
import type { CommitmentId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { Milestone, OutputPage, OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** Slot commitments and what their slots changed, in the form of the node API (rest.md 4.1). */

/** A committed slot as it is kept. */
export type CommittedSlotRow = Milestone

/** A commitment, named by its id, by its slot, or as the newest. */
export type CommitmentName = CommitmentId | SlotIndex

/** Finds a commitment; the id of zeros means the newest, as in the node. */
export function findCommitment(
  deps: Pick<Services, 'store'>,
  name: CommitmentName,
): Promise<Milestone | undefined> {
  return name === noCommitment ? deps.store.read.latestMilestone() : findMilestone(deps, name)
}

/** Finds a commitment by exactly this name. */
export function findMilestone(
  { store }: Pick<Services, 'store'>,
  name: CommitmentName,
): Promise<Milestone | undefined> {
  return typeof name === 'number'
    ? store.read.milestone(name)
    : store.read.milestoneByCommitment(name)
}

/** What its bytes say. */
export function decodeCommitment({ bytes }: Pick<Milestone, 'bytes'>): SlotCommitment {
  const commitment = decode(SlotCommitment, bytes)
  assert(commitment.ok, 'a stored commitment decodes')
  return commitment.value
}

/** An output that a slot changed, as it is kept. */
export type ChangedOutput = OutputRow

/**
 * What a committed slot changed, in the order of output ids. An output that it created and spent is in both lists. Each may have
 * any number of outputs, and is read as often as it is walked.
 */
export interface SlotChanges {
  readonly created: AsyncIterable<readonly ChangedOutput[]>
  readonly consumed: AsyncIterable<readonly ChangedOutput[]>
  /** Whether all of both lists is in memory. */
  readonly isSmall: boolean
}

/** Begins to read what a slot changed. */
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

/** An output with its id. */
export function outputWithId({ outputId, bytes }: OutputRow): {
  readonly outputId: OutputId
  readonly output: Output
} {
  const output = decode(Output, bytes)
  assert(output.ok, 'a stored output decodes')
  return { outputId, output: output.value }
}
