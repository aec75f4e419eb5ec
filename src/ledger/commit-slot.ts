import { bytesToHex, hexToBytes, noBytes } from '../lib/hex.ts'
import { SlotCommitment } from '../protocol/commitment.ts'
import { blake2b256 } from '../protocol/hash.ts'
import { commitmentId } from '../protocol/ids.ts'
import { merkleRoot } from '../protocol/merkle.ts'
import type { Network } from '../protocol/network.ts'
import { noCommitment } from '../protocol/node-responses.ts'
import type { CongestionControlParameters, ProtocolParameters } from '../protocol/parameters.ts'
import type { BlockId, CommitmentId, EpochIndex, TransactionId } from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import { Writer } from '../protocol/schema/writer.ts'
import { emptyTrieRoot, trieSetRoot } from './trie.ts'
import type { KeyValue } from './trie-pass.ts'
import { trieRootOf } from './trie-root.ts'

/** The commitment to a slot, on which every later block builds (ledger reference 11.2, 12.3). */

/** A slot commitment with its id and its bytes. */
export interface CommittedSlot {
  readonly commitment: SlotCommitment
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the commitment. */
  readonly bytes: Uint8Array
}

/** The accepted content of a slot, and the commitment to the previous slot. */
export type SlotToCommit = SlotTotals & (AcceptedIds | { readonly acceptedRoots: AcceptedRoots })

interface SlotTotals {
  readonly former: CommittedSlot
  /** Sum of the work scores of the blocks. */
  readonly workScore: number
  /** Roots over the state of the ledger at the end of the slot. A ledger without this state omits them. */
  readonly ledgerRoots?: LedgerRoots
}

/** The ids of the blocks and transactions accepted in a slot. Their roots are computed synchronously, which takes microseconds per id. */
export interface AcceptedIds {
  readonly blockIds: readonly BlockId[]
  readonly transactionIds: readonly TransactionId[]
}

/** Roots over the blocks and transactions accepted in a slot. */
export interface AcceptedRoots {
  readonly blocks: Uint8Array
  readonly transactions: Uint8Array
}

/** Computes the roots over the accepted content from the bytes of its ids. Yields to the event loop. */
export async function acceptedRoots(ids: {
  readonly blocks: Iterable<Uint8Array>
  readonly transactions: Iterable<Uint8Array>
}): Promise<AcceptedRoots> {
  return { blocks: await setRoot(ids.blocks), transactions: await setRoot(ids.transactions) }
}

async function setRoot(ids: Iterable<Uint8Array>): Promise<Uint8Array> {
  const root = await trieRootOf(async function* () {
    yield membersOf(ids)
  })
  return hexToBytes(root)
}

function* membersOf(ids: Iterable<Uint8Array>): Generator<KeyValue> {
  for (const id of ids) yield [bytesToHex(id), noBytes]
}

/** Roots over the whole state of the ledger (ledger reference 11.2, 3, 4 and 6). */
export interface LedgerRoots {
  /** Root over all unspent outputs. */
  readonly state: Uint8Array
  readonly accounts: Uint8Array
  /** Root over the committee of the epoch; near the end of an epoch, over the next committee. */
  readonly committee: Uint8Array
}

/**
 * Commits the slot after the former slot. The roots over attestations and rewards are the empty root: there are no attestations, and
 * the rewards of an epoch are written after the commitment of its last slot is computed.
 */
export function commitSlot(network: Network, slot: SlotToCommit): CommittedSlot {
  const { parameters } = network
  const { commitment: former, commitmentId: previousCommitmentId } = slot.former
  return identifyCommitment({
    protocolVersion: parameters.version,
    slot: former.slot + 1,
    previousCommitmentId,
    rootsId: bytesToHex(merkleRoot(rootsOf(network, slot))),
    // The cumulative weight counts attestations of a committee, and there are none.
    cumulativeWeight: former.cumulativeWeight,
    referenceManaCost: nextReferenceManaCost(
      parameters.congestionControlParameters,
      former.referenceManaCost,
      slot.workScore,
    ),
  })
}

/** The first commitment of a network, which has no predecessor (ledger reference 12.6). */
export function genesisCommitment(parameters: ProtocolParameters): CommittedSlot {
  return identifyCommitment({
    protocolVersion: parameters.version,
    slot: parameters.genesisSlot,
    previousCommitmentId: noCommitment,
    rootsId: bytesToHex(emptyTrieRoot),
    cumulativeWeight: 0n,
    referenceManaCost: parameters.congestionControlParameters.minReferenceManaCost,
  })
}

/** Adds its id and its bytes to a commitment. */
export function identifyCommitment(commitment: SlotCommitment): CommittedSlot {
  const bytes = encode(SlotCommitment, commitment)
  return { commitment, commitmentId: commitmentId(commitment), bytes }
}

/** The eight roots, in order. */
function rootsOf(network: Network, slot: SlotToCommit): readonly Uint8Array[] {
  const accepted = 'acceptedRoots' in slot ? slot.acceptedRoots : rootsOfIds(slot)
  return [
    accepted.blocks,
    accepted.transactions,
    slot.ledgerRoots?.state ?? emptyTrieRoot,
    slot.ledgerRoots?.accounts ?? emptyTrieRoot,
    emptyTrieRoot, // attestations
    slot.ledgerRoots?.committee ?? emptyTrieRoot,
    emptyTrieRoot, // rewards
    parametersRoot(network, 0),
  ]
}

function rootsOfIds({ blockIds, transactionIds }: AcceptedIds): AcceptedRoots {
  return { blocks: trieSetRoot(blockIds), transactions: trieSetRoot(transactionIds) }
}

/** The root of the protocol parameters: one version, in force from `startEpoch` on. */
export function parametersRoot(
  { parameters, parametersHash }: Network,
  startEpoch: EpochIndex,
): Uint8Array {
  const writer = new Writer(5)
  writer.u8(parameters.version)
  writer.u32(startEpoch)
  return blake2b256(writer.bytes(), hexToBytes(parametersHash))
}

/** The next price in mana per unit of work score. The price falls while slots are quiet and rises while they are full. */
export function nextReferenceManaCost(
  rules: CongestionControlParameters,
  former: bigint,
  workScore: number,
): bigint {
  const { minReferenceManaCost: minimum, decrease } = rules
  if (workScore < rules.decreaseThreshold && former > minimum) {
    return former - minimum > decrease ? former - decrease : minimum
  }
  return workScore > rules.increaseThreshold ? former + rules.increase : former
}
