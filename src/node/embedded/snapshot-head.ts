import { parametersRoot } from '../../ledger/commit-slot.ts'
import { emptyTrieRoot, trieSetRoot } from '../../ledger/trie.ts'
import type { KeyValue } from '../../ledger/trie-pass.ts'
import { trieRootOf } from '../../ledger/trie-root.ts'
import { bytesToHex, type Hex, hexToBytes, noBytes } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { merkleRoot } from '../../protocol/merkle.ts'
import type { Network } from '../../protocol/network.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { epochOfSlot } from '../../protocol/slots.ts'
import type { Accepted, IdPage } from '../../store/contract/ledger-snapshot.ts'
import { allBuilt } from '../../store/contract/trie.ts'
import type { Store, StoreReader } from '../../store/contract.ts'
import { committedSlot, retainedSlots } from '../recent-commitments.ts'
import { type SnapshotHead, snapshotFormat, snapshotVersion } from '../snapshot/snapshot-format.ts'
import type { SnapshotNotReady } from '../source.ts'
import { openStoredTries } from './stored-tries.ts'

/** The head of a snapshot of a ledger that this program keeps, at its newest slot. */

/** Reads the head. It holds the proofs for the rest of the snapshot, and the data that a follower needs to continue after it. */
export async function snapshotHead(
  store: Pick<Store, 'snapshot'>,
  network: Network,
): Promise<Result<SnapshotHead, SnapshotNotReady>> {
  const snapshot = await store.snapshot()
  const known = await readRootInputs(snapshot.read, network).finally(snapshot.end)
  if (known === undefined) return err({ code: 'SNAPSHOT_NOT_READY' })
  const { milestone, commitments, logId } = known
  const roots = rootsOf(network, known)
  if (roots === undefined) return err({ code: 'SNAPSHOT_NOT_READY' })
  return ok({
    format: snapshotFormat,
    version: snapshotVersion,
    slot: milestone.slot,
    parameters: bytesToHex(encode(ProtocolParameters, network.parameters)),
    roots,
    commitments: commitments.map(({ bytes, firstSeq, lastSeq }) => [
      bytesToHex(bytes),
      firstSeq,
      lastSeq,
    ]),
    logId,
  })
}

/** Reads the inputs of the roots of the newest slot from one snapshot; `undefined` while the tries lag behind that slot. */
export async function readRootInputs(read: StoreReader, { parameters }: Network) {
  const [state, milestone] = [await read.trieState(), await read.latestMilestone()]
  if (state?.slot !== milestone.slot || state.built !== allBuilt) return undefined
  const tries = openStoredTries(read, 0)
  const count = retainedSlots(parameters)
  const newest = await read.milestonesAfter(milestone.slot - count, count)
  const holder = await read.milestoneHolding(milestone.lastSeq)
  const isApart = holder !== undefined && holder.slot <= milestone.slot - count
  const epoch = epochOfSlot(parameters, milestone.slot)
  return {
    milestone,
    commitments: isApart ? [holder, ...newest] : newest,
    logId: (await read.logTip()).logId,
    state: await tries.change('outputs', []),
    accounts: await tries.change('accounts', []),
    blocks: await acceptedRoot(read, milestone.slot, 'blocks'),
    transactions: await acceptedRoot(read, milestone.slot, 'transactions'),
    epochs: (await read.epochs(epoch)).slice(0, 2),
  }
}

type RootInputs = NonNullable<Awaited<ReturnType<typeof readRootInputs>>>

/** The root of the ids that a slot accepted. Reads the ids in pages, because a slot may have any number of them. */
async function acceptedRoot(
  read: StoreReader,
  slot: SlotIndex,
  what: Accepted,
): Promise<Uint8Array> {
  async function* entries(): AsyncGenerator<Iterable<KeyValue>> {
    for (let after: IdPage['last'] | undefined; ; ) {
      const page = await read.acceptedIn(slot, what, after)
      if (page === undefined) return
      yield page.ids.map((id): KeyValue => [id, noBytes])
      after = page.last
    }
  }
  return hexToBytes(await trieRootOf(entries))
}

/** The eight roots of the slot; `undefined` when the commitment names different roots, as the commitment of the genesis does. */
export function rootsOf(network: Network, known: RootInputs): readonly Hex[] | undefined {
  const { milestone, blocks, transactions, state, accounts, epochs } = known
  const { rootsId } = committedSlot(milestone).commitment
  // Near the end of an epoch, the commitment names the committee of the next epoch if that was known when the slot was committed.
  const committees = [...epochs.map(({ committee }) => committee), []]
  const candidates = committees.map(
    (committee) =>
      [
        blocks,
        transactions,
        state,
        accounts,
        emptyTrieRoot,
        trieSetRoot(committee.map(({ accountId }) => accountId)),
        emptyTrieRoot,
        parametersRoot(network, 0),
      ] as const,
  )
  const roots = candidates.find((some) => bytesToHex(merkleRoot(some)) === rootsId)
  return roots?.map(bytesToHex)
}
