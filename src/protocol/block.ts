import { is } from './is.ts'
import { checkManaInPayload } from './json-aliases.ts'
import { AccountId, BlockId, CommitmentId, Hash, Mana, SlotIndex, u8, u64 } from './primitives.ts'
import { type ListOptions, list, optional, struct, union, variant } from './schema/declare.ts'
import { about, type Infer } from './schema/schema.ts'
import { Payload, SignedTransaction } from './transaction.ts'
import { Signature } from './unlocks.ts'

/** Blocks (codec reference 3). */

/** Maximum size of a block in bytes. */
export const maxBlockSize = 32_768

/** Size of a header in bytes. */
export const headerSize = 89

/** Size of a block's signature in bytes. */
export const signatureSize = 97

export const BlockHeader = about(
  'issuer, time and commitment of a block',
  struct('BlockHeader', {
    protocolVersion: about('protocol version, which determines the parameters and rules', u8),
    networkId: about('first 8 bytes of the hash of the network name', u64),
    issuingTime: about('Unix time in nanoseconds', u64),
    slotCommitmentId: about('slot commitment that the issuer refers to', CommitmentId),
    latestFinalizedSlot: about('latest finalized slot of the issuing node', SlotIndex),
    issuerId: about('the issuing account', AccountId),
  }),
)
export interface BlockHeader extends Infer<typeof BlockHeader> {}

export const BasicBlockBody = about(
  'a block that may carry a payload',
  variant(
    'BasicBlockBody',
    0,
    {
      ...parents(8),
      payload: about('payload of the block', optional(Payload)),
      maxBurnedMana: about('maximum mana that the issuer burns for the block', Mana),
    },
    { check: ({ maxBurnedMana }, json) => checkManaInPayload(maxBurnedMana, json) },
  ),
)
export interface BasicBlockBody extends Infer<typeof BasicBlockBody> {}

export const ValidationBlockBody = about(
  "a validator's vote",
  variant('ValidationBlockBody', 1, {
    ...parents(50),
    highestSupportedVersion: about('highest protocol version that the validator supports', u8),
    protocolParametersHash: about('hash of the parameters of that version', Hash),
  }),
)
export interface ValidationBlockBody extends Infer<typeof ValidationBlockBody> {}

export const BlockBody = union('BlockBody', BasicBlockBody, ValidationBlockBody)
export type BlockBody = Infer<typeof BlockBody>

export const Block = about(
  'a block: the object that nodes exchange in the network',
  struct('Block', {
    header: BlockHeader,
    body: about('body of the block', BlockBody),
    signature: about('signature of the issuer over header and body', Signature),
  }),
)
export interface Block extends Infer<typeof Block> {}

/** The signed transaction in a block; `undefined` if the block has none. */
export function signedTransactionOf({ body }: Pick<Block, 'body'>): SignedTransaction | undefined {
  const payload = is(BasicBlockBody, body) ? body.payload : undefined
  return is(SignedTransaction, payload) ? payload : undefined
}

/** Whether JSON is a payload alone, for which the node builds a block: a payload has a type, a block has a header but no type. */
export function isPayloadAlone(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'type' in json && !('header' in json)
}

/** The lists of parents, each of at most `max` blocks. */
function parents(max: number) {
  return {
    strongParents: about(
      'blocks that are approved together with their past; sorted by bytes',
      parentList({ min: 1, max, size: 'PARENTS_STRONG_COUNT' }),
    ),
    weakParents: about(
      'blocks that are approved without their past; sorted by bytes',
      parentList({ min: 0, max, size: 'PARENTS_WEAK_COUNT' }),
    ),
    shallowLikeParents: about(
      'blocks whose transaction is preferred to a conflicting transaction; sorted by bytes',
      parentList({ min: 0, max, size: 'PARENTS_SHALLOW_LIKE_COUNT' }),
    ),
  }
}

function parentList(bounds: Required<Pick<ListOptions<BlockId>, 'min' | 'max' | 'size'>>) {
  return list('u8', BlockId, {
    ...bounds,
    order: { by: (a, b) => (a < b ? -1 : a > b ? 1 : 0), rule: 'PARENTS_ORDER' },
    omitEmpty: bounds.min === 0,
  })
}
