import { type UnspentProof, unspentProverOf } from '../../service/outputs/unspent-proof.ts'
import { orThrow } from '../errors.ts'
import { builder, type GatewayContext } from './builder.ts'
import { OutputNode } from './output.ts'
import { fieldCost } from './prices.ts'

/** The proof that the newest commitment commits to an output as unspent. */

const UnspentProofType = builder.objectRef<UnspentProof>('UnspentProof').implement({
  description:
    'Proves by hashes that a slot commitment has an output among the unspent ones. It does not prove that the network agreed on the commitment.',
  fields: (t) => ({
    commitmentId: t.field({
      type: 'CommitmentId',
      description: 'The commitment of the newest milestone.',
      resolve: ({ commitmentId }) => commitmentId,
    }),
    commitment: t.field({
      type: 'Hex',
      description:
        'Its 89 bytes: BLAKE2b-256 of them and the slot are its id, and bytes 41 to 72 are its roots id.',
      resolve: ({ commitment }) => commitment,
    }),
    roots: t.field({
      complexity: fieldCost.bytes,
      type: ['Hex'],
      description:
        'The eight roots of 32 bytes of which the roots id is the Merkle root by BLAKE2b-256; the third is that of the unspent outputs.',
      resolve: ({ roots }) => [...roots],
    }),
    beside: t.field({
      complexity: fieldCost.bytes,
      type: ['Hex'],
      description:
        'The roots beside the way to the output, from the top of the trie of unspent outputs down, 32 bytes each, zeros for an empty one. The bits of the SHA-256 of the output id are the way, the most significant first and 1 to the right. At its end stands SHA-256(00, SHA-256 of the id, creation slot as 4 bytes), and above SHA-256(01, left, right).',
      resolve: ({ beside }) => [...beside],
    }),
  }),
})

builder.objectField(OutputNode, 'unspentProof', (t) =>
  t.field({
    type: UnspentProofType,
    nullable: true,
    complexity: fieldCost.proof,
    description:
      'Proves that it was unspent at the end of the newest milestone. Null for an output that is spent or not committed yet and, with an error, in upstream mode and while the roots are not known. Roots of former milestones are not kept.',
    resolve: async (view, _args, context) => {
      const prove = orThrow(await proverOf(context))
      return orThrow(await prove(view))
    },
  }),
)

const underWay = new WeakMap<GatewayContext, ReturnType<typeof unspentProverOf>>()

/** Everything that an answer asks for at the same time shares one read. */
function proverOf(context: GatewayContext): ReturnType<typeof unspentProverOf> {
  const known = underWay.get(context)
  if (known !== undefined) return known
  const reading = unspentProverOf(context.services).finally(() => underWay.delete(context))
  underWay.set(context, reading)
  return reading
}
