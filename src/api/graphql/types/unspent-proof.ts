import { nextTurn } from '../../../lib/turns.ts'
import { type UnspentProof, unspentProverOf } from '../../../service/outputs/unspent-proof.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { fieldCost } from '../execution/prices.ts'
import { sharedByResponse } from '../loader.ts'
import { OutputNode } from './output.ts'

/** The proof that the newest commitment commits to an output as unspent. */

const UnspentProofType = builder.objectRef<UnspentProof>('UnspentProof').implement({
  description:
    'A proof by hashes that an output is among the unspent outputs of a slot commitment. It does not prove that the network agreed on the commitment.',
  fields: (t) => ({
    ...exposed(t, 'CommitmentId', {
      commitmentId: 'The id of the slot commitment of the newest milestone.',
    }),
    ...exposed(t, 'Hex', {
      commitment:
        'The serialized slot commitment, 89 bytes. Its id is the BLAKE2b-256 hash of these bytes, followed by the slot index. Bytes 41 to 72 are its roots id.',
    }),
    roots: t.field({
      complexity: fieldCost.bytes,
      type: ['Hex'],
      description:
        'The eight roots of 32 bytes each. The roots id is their Merkle root by BLAKE2b-256. The third root is that of the trie of unspent outputs.',
      resolve: ({ roots }) => [...roots],
    }),
    beside: t.field({
      complexity: fieldCost.bytes,
      type: ['Hex'],
      description:
        'The sibling hashes on the path to the output, from the root of the trie of unspent outputs down, 32 bytes each. An empty sibling is 32 zero bytes. The path is the SHA-256 hash of the output id, the most significant bit first, where 1 means right. The leaf is SHA-256(00, SHA-256 of the output id, creation slot as 4 bytes). An inner node is SHA-256(01, left, right).',
      resolve: ({ beside }) => [...beside],
    }),
  }),
})

const proverOf = sharedByResponse(({ services }) => unspentProverOf(services))

builder.objectField(OutputNode, 'unspentProof', (t) =>
  t.field({
    type: UnspentProofType,
    nullable: true,
    complexity: fieldCost.proof,
    description:
      'A proof that the output was unspent at the end of the newest milestone. Null if the output is spent or not committed yet. Null with an error in upstream mode and while the roots are not known. Proofs for earlier milestones are not available.',
    resolve: async (view, _args, context) => {
      const prove = orThrow(await proverOf(context))
      // All outputs of a page continue here together, and each one reads and hashes several pages of the trie.
      await nextTurn(context.share.client)
      return orThrow(await prove(view))
    },
  }),
)
