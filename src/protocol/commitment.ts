import type { Hex } from '../lib/hex.ts'
import { CommitmentId, Hash, SlotIndex, u8, u16, u64 } from './primitives.ts'
import type { AnyVariant, UnionSchema } from './schema/composites.ts'
import { restrictedUnion, struct, union, variant } from './schema/declare.ts'
import { bytes } from './schema/scalars.ts'
import { about, type Infer } from './schema/schema.ts'

/** Slot commitments and proofs of output ids (codec reference 11, 13.4). */

export const SlotCommitment = about(
  'commitment to a slot: its position in the chain of commitments and the roots of its contents',
  struct('SlotCommitment', {
    protocolVersion: about('protocol version in force in the slot', u8),
    slot: about('the committed slot', SlotIndex),
    previousCommitmentId: about('commitment to the preceding slot', CommitmentId),
    rootsId: about('Merkle root over the eight roots of the slot', Hash),
    cumulativeWeight: about('attestations of the committee, summed up over all slots', u64),
    referenceManaCost: about('mana per unit of work score in the following slots', u64),
  }),
)
export interface SlotCommitment extends Infer<typeof SlotCommitment> {}

export type ProofNode =
  | { readonly type: 0; readonly l: ProofNode; readonly r: ProofNode }
  | { readonly type: 1; readonly hash: Hex }
  | { readonly type: 2; readonly hash: Hex }

const proofHash = bytes('ProofHash', { count: 'u8', min: 32, max: 32, length: 'JSON_HEX_LENGTH' })
const LeafHash = about(
  'a subtree without the output',
  variant('LeafHash', 1, {
    hash: about('hash of a subtree without the output', proofHash),
  }),
)
const ValueHash = about(
  'the output itself',
  variant('ValueHash', 2, { hash: about('hash of the output itself', proofHash) }),
)

/** Maximum depth of a tree: enough for 128 outputs, with some room for trees of other shapes. */
const maxDepth = 16

function proofNode(depth: number): UnionSchema<ProofNode> {
  if (depth === 0) {
    const tooDeep = { family: allProofNodes, rule: 'PROOF_DEPTH' } as const
    return restrictedUnion('ProofNode', tooDeep, LeafHash, ValueHash)
  }
  const child = proofNode(depth - 1)
  const HashableNode = about(
    'two subtrees, one of which contains the output',
    variant('HashableNode', 0, {
      l: about('left subtree', child),
      r: about('right subtree', child),
    }),
  )
  return union('ProofNode', HashableNode, LeafHash, ValueHash)
}

const proofTree = proofNode(maxDepth)

function allProofNodes(): readonly AnyVariant[] {
  return proofTree.variants
}

export const OutputIdProof = about(
  'proves that an output belongs to a transaction',
  struct('OutputIdProof', {
    slot: about('creation slot of the transaction', SlotIndex),
    outputIndex: about('index of the output in its transaction, 0 to 127', u16),
    transactionCommitment: about('hash of the essence of the transaction', Hash),
    outputCommitmentProof: about(
      'tree of hashes from the output to the root over all outputs',
      proofTree,
    ),
  }),
)
export interface OutputIdProof extends Infer<typeof OutputIdProof> {}
