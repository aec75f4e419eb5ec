import { PublicKey, SignatureBytes, u16 } from './primitives.ts'
import type { AnyVariant, VariantSchema } from './schema/composites.ts'
import { list, restrictedUnion, union, variant } from './schema/declare.ts'
import { about, type Infer } from './schema/schema.ts'

/** Unlocks of inputs (codec reference 10), and signatures (3.4). */

export const Ed25519Signature = about(
  'an Ed25519 signature with its key',
  variant('Ed25519Signature', 0, {
    publicKey: PublicKey,
    signature: SignatureBytes,
  }),
)
export interface Ed25519Signature extends Infer<typeof Ed25519Signature> {}

export const Signature = union('Signature', Ed25519Signature)
export type Signature = Infer<typeof Signature>

export const SignatureUnlock = about(
  'unlocks an input with a signature',
  variant('SignatureUnlock', 0, {
    signature: about('signature over the signing hash of the transaction', Signature),
  }),
)
export interface SignatureUnlock extends Infer<typeof SignatureUnlock> {}

const reference = about('index of an earlier unlock, 0 to 126', u16)

export const ReferenceUnlock = about(
  'unlocks an input with the signature of an earlier unlock',
  referring('ReferenceUnlock', 1),
)
export interface ReferenceUnlock extends Infer<typeof ReferenceUnlock> {}

export const AccountUnlock = about(
  'unlocks an input with the account that an earlier unlock has unlocked',
  referring('AccountUnlock', 2),
)
export interface AccountUnlock extends Infer<typeof AccountUnlock> {}

export const AnchorUnlock = about(
  'unlocks an input with the anchor that an earlier unlock has unlocked',
  referring('AnchorUnlock', 3, 'none'),
)
export interface AnchorUnlock extends Infer<typeof AnchorUnlock> {}

export const NftUnlock = about(
  'unlocks an input with the NFT that an earlier unlock has unlocked',
  referring('NFTUnlock', 4, 3),
)
export interface NftUnlock extends Infer<typeof NftUnlock> {}

export const EmptyUnlock = about(
  'marks a member of a multi address that is not unlocked',
  variant('EmptyUnlock', 6, {}),
)
export interface EmptyUnlock extends Infer<typeof EmptyUnlock> {}

const MemberUnlock = restrictedUnion(
  'Unlock',
  { family: allUnlocks, rule: 'UNLOCK_MULTI_NESTED' },
  SignatureUnlock,
  ReferenceUnlock,
  AccountUnlock,
  AnchorUnlock,
  NftUnlock,
  EmptyUnlock,
)

export const MultiUnlock = about(
  'unlocks a multi address: one unlock for each member, in the order of the members',
  variant('MultiUnlock', 5, {
    unlocks: about(
      'one for each member of the address',
      list('u8', MemberUnlock, { min: 2, max: 10, size: 'UNLOCK_MULTI_COUNT' }),
    ),
  }),
)
export interface MultiUnlock extends Infer<typeof MultiUnlock> {}

export const Unlock = union(
  'Unlock',
  SignatureUnlock,
  ReferenceUnlock,
  AccountUnlock,
  AnchorUnlock,
  NftUnlock,
  MultiUnlock,
  EmptyUnlock,
)
export type Unlock = Infer<typeof Unlock>

function allUnlocks(): readonly AnyVariant[] {
  return Unlock.variants
}

function referring<const C extends number>(
  name: string,
  code: C,
  documentedCode: number | 'none' = code,
): Referring<C> {
  return variant(
    name,
    code,
    { reference },
    {
      documentedCode,
      check: (unlock) =>
        unlock.reference > 126 ? { rule: 'UNLOCK_REFERENCE_BOUND', at: ['reference'] } : undefined,
    },
  )
}

type Referring<C extends number> = VariantSchema<
  C,
  { readonly type: C; readonly reference: number }
>
