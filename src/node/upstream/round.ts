import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { slotEntries } from '../../ledger/updates.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { isOrderOpen } from '../../protocol/metadata-order.ts'
import type { UtxoChangesFull } from '../../protocol/node-responses.ts'
import { Output } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import type { FollowedSlot, StoreWriter } from '../../store/contract.ts'
import type { Contradiction } from '../contradiction.ts'
import type { AnswerUnreadable } from '../unreadable.ts'
import { checkChanges, checkCommitment } from './check.ts'
import { changesOf, commitmentOf } from './node-queries.ts'
import { fetchRequired, type Node, type NodeFailed } from './nodes.ts'
import {
  fetchProvenance,
  type Provenance,
  type ProvenanceDeps,
  type SlotChanges,
} from './provenance.ts'

/** Fetches the next slots from one node and checks them. Writes nothing. */

export interface RoundDeps {
  readonly write: Pick<StoreWriter, 'outputsForBooking'>
  readonly parameters: ProtocolParameters
  /** Whether each output is checked against its proof. Without proofs, blocks and spenders are unknown too. */
  readonly withProofs: boolean
  readonly proven: ProvenanceDeps['proven']
}

/** Checked slots, ready to be written, oldest first. */
export interface FetchedSlots {
  readonly slots: readonly FollowedSlot[]
  readonly committed: readonly CommittedSlot[]
}

/** Why fetching failed. */
export type RoundFailed = NodeFailed | AnswerUnreadable | Contradiction

/** Fetches the slots after `former` up to `upTo`, at most `slotsPerRound`, or as many of them as have outputs for one round. */
export async function fetchSlots(
  deps: RoundDeps,
  node: Node,
  { former, upTo }: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<Result<FetchedSlots, RoundFailed>> {
  const answered = await fetchChanges(node, former.commitment.slot + 1, upTo)
  if (!answered.ok) return answered
  const checked = await checkAll(deps, former, answered.value)
  if (!checked.ok) return checked
  const changed = checked.value.map(({ committed, changes }) => {
    return { slot: committed.commitment.slot, changes }
  })
  const fetching = { node, limit: maxConcurrentRequests, proven: deps.proven }
  const provenance = await fetchProvenance(
    fetching,
    deps.withProofs ? changed : changed.map(withOpenOrder),
  )
  if (!provenance.ok) return provenance
  const slots: FollowedSlot[] = []
  for (const slot of checked.value) slots.push(await followedSlot(deps, slot, provenance.value))
  return ok({ slots, committed: checked.value.map(({ committed }) => committed) })
}

/** The outputs to fetch in a mode without proofs: only created outputs whose bytes are ambiguous in JSON. */
function withOpenOrder({ slot, changes }: SlotChanges): SlotChanges {
  const createdOutputs = changes.createdOutputs.filter(({ output }) => isOrderOpen(output))
  return { slot, changes: { ...changes, createdOutputs, consumedOutputs: [] } }
}

interface FetchedSlot {
  readonly commitment: CommittedSlot['commitment']
  readonly changes: UtxoChangesFull
}

interface CheckedSlot {
  readonly committed: CommittedSlot
  readonly changes: UtxoChangesFull
}

/** Fetches commitments and changes until there are enough outputs for one round. */
async function fetchChanges(
  node: Node,
  from: SlotIndex,
  upTo: SlotIndex,
): Promise<Result<FetchedSlot[], NodeFailed | AnswerUnreadable>> {
  const answered: FetchedSlot[] = []
  let outputs = 0
  for (let first = from; first <= upTo && outputs < outputsPerRound; first += slotsPerBatch) {
    const last = Math.min(first + slotsPerBatch - 1, upTo)
    const slots = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const fetched = await inParallel(slots, maxConcurrentRequests / 2, (slot) =>
      fetchSlot(node, slot),
    )
    if (!fetched.ok) return fetched
    answered.push(...fetched.value)
    for (const { changes } of fetched.value) {
      outputs += changes.createdOutputs.length + changes.consumedOutputs.length
    }
  }
  return ok(answered)
}

async function fetchSlot(
  node: Node,
  slot: SlotIndex,
): Promise<Result<FetchedSlot, NodeFailed | AnswerUnreadable>> {
  const [commitment, changes] = await Promise.all([
    fetchRequired(node, commitmentOf(slot), `commitment ${slot}`),
    fetchRequired(node, changesOf(slot), `changes of slot ${slot}`),
  ])
  if (!commitment.ok) return commitment
  return changes.ok ? ok({ commitment: commitment.value, changes: changes.value }) : changes
}

/** Checks the chain of commitments, and the outputs against the known outputs, slot by slot. */
async function checkAll(
  { write }: RoundDeps,
  before: CommittedSlot,
  answered: readonly FetchedSlot[],
): Promise<Result<CheckedSlot[], Contradiction>> {
  const ids = new Set(answered.flatMap(({ changes }) => idsOf(changes)))
  const rows = ids.size === 0 ? [] : await write.outputsForBooking([...ids])
  const known = new Map(
    rows.map(({ outputId, bytes, spentSlot }) => [outputId, { bytes, spentSlot }]),
  )
  const checked: CheckedSlot[] = []
  let former = before
  for (const { commitment, changes } of answered) {
    const committed = checkCommitment(former, commitment)
    if (!committed.ok) return committed
    const contradiction = checkChanges(committed.value, changes, known)
    if (contradiction !== undefined) return err(contradiction)
    checked.push({ committed: committed.value, changes })
    former = committed.value
  }
  return ok(checked)
}

function idsOf({ createdOutputs, consumedOutputs }: UtxoChangesFull): OutputId[] {
  return [...createdOutputs, ...consumedOutputs].map(({ outputId }) => outputId)
}

async function followedSlot(
  { parameters }: RoundDeps,
  { committed, changes }: CheckedSlot,
  provenance: Provenance,
): Promise<FollowedSlot> {
  const { commitment, commitmentId, bytes } = committed
  const { slot } = commitment
  const { consumedOutputs: consumed } = changes
  const created = changes.createdOutputs.map(({ outputId, output }) => {
    return { outputId, output: provenance.proven.get(outputId) ?? output }
  })
  const entries = await slotEntries(parameters, slot, { created, consumed })
  return {
    commit: { slot, commitmentId, bytes, entries, accounts: [], epochs: [] },
    created: created.map(({ outputId, output }) => ({
      outputId,
      bytes: encode(Output, output),
      blockId: provenance.blocks.get(outputId),
      bookedSlot: slot,
    })),
    spent: consumed.map(({ outputId }) => ({
      outputId,
      spentSlot: slot,
      spentBy: provenance.spenders.get(outputId),
    })),
  }
}

/** Maximum number of concurrent requests to one node. */
const maxConcurrentRequests = 32

/** Number of slots that are requested together before their outputs are counted. */
const slotsPerBatch = 32

/** Maximum number of slots, and approximate maximum number of outputs, in one round. A round is one database transaction. */
export const slotsPerRound = 512
const outputsPerRound = 5_000
