import { hasBitFrom } from './addresses.ts'
import { ContextInputs, Input } from './inputs.ts'
import { transactionInItsNumbering, unlocksInItsNumbering } from './numbering.ts'
import { Output } from './outputs.ts'
import { AccountId, Mana, maxPerTransaction, SlotIndex, u64 } from './primitives.ts'
import type { AnyVariant } from './schema/composites.ts'
import { list, optional, restrictedUnion, struct, union, variant } from './schema/declare.ts'
import { bytes } from './schema/scalars.ts'
import { about, type Infer } from './schema/schema.ts'
import { Unlock } from './unlocks.ts'

/** Transactions and the payloads of blocks (codec reference 4, 5). */

export const TaggedData = about(
  'arbitrary data with a tag',
  variant('TaggedDataPayload', 0, {
    tag: bytes('PayloadTag', {
      count: 'u8',
      max: 64,
      length: 'TAGGED_TAG_LENGTH',
      omitEmpty: true,
      about: 'a tag by which the data can be found, 0 to 64 bytes',
    }),
    data: bytes('PayloadData', {
      count: 'u32',
      max: 8192,
      length: 'TAGGED_DATA_LENGTH',
      omitEmpty: true,
      about: 'the data, 0 to 8192 bytes',
    }),
  }),
)
export interface TaggedData extends Infer<typeof TaggedData> {}

export const Allotment = about(
  'mana that is converted to block issuance credit of an account',
  struct('Allotment', {
    accountId: about('id of the account', AccountId),
    mana: about('amount of mana, above 0', Mana),
  }),
)
export interface Allotment extends Infer<typeof Allotment> {}

const transaction = about(
  'a transaction, which spends outputs and creates new outputs',
  struct('Transaction', {
    networkId: about('first 8 bytes of the hash of the network name', u64),
    creationSlot: about(
      'slot in which the transaction was created, from which the mana of its outputs is counted',
      SlotIndex,
    ),
    contextInputs: ContextInputs,
    inputs: about(
      'the outputs to spend, without duplicates',
      list('u16', Input, { min: 1, max: maxPerTransaction, size: 'TX_INPUTS_COUNT' }),
    ),
    allotments: about(
      'mana that is converted to block issuance credit of accounts, sorted by account id',
      list('u16', Allotment, {
        max: maxPerTransaction,
        size: 'TX_ALLOTMENTS_COUNT',
        order: {
          by: (a, b) => (a.accountId < b.accountId ? -1 : a.accountId > b.accountId ? 1 : 0),
          rule: 'TX_ALLOTMENTS_ORDER',
        },
        omitEmpty: true,
      }),
    ),
    capabilities: bytes('TransactionCapabilities', {
      count: 'u8',
      max: 1,
      length: 'TX_CAPABILITIES_LENGTH',
      omitEmpty: true,
      about:
        'bit mask of what the transaction may do, lowest bit first: burn native tokens, burn mana, destroy accounts, anchors, foundries, NFTs',
      trailingZero: 'TX_CAPABILITIES_TRAILING_ZERO',
      brokenForSdk: (mask) => (hasBitFrom(mask, 6) ? 'TX_CAPABILITIES_UNKNOWN_BIT' : undefined),
    }),
    payload: about(
      'tagged data that the transaction carries',
      optional(
        restrictedUnion('Payload', { family: allPayloads, rule: 'TX_PAYLOAD_KIND' }, TaggedData),
      ),
    ),
    outputs: about(
      'the outputs to create',
      list('u16', Output, { min: 1, max: maxPerTransaction, size: 'TX_OUTPUTS_COUNT' }),
    ),
  }),
)

/** A transaction spends outputs and creates new outputs. Its bytes up to the payload are its essence. */
export const Transaction = transactionInItsNumbering(transaction)
export interface Transaction extends Infer<typeof Transaction> {}

export const Unlocks = about(
  'the unlocks of the inputs, one for each in their order',
  list('u16', Unlock, { min: 1, max: maxPerTransaction, size: 'UNLOCKS_COUNT' }),
)

const signedTransaction = about(
  'a transaction with the unlocks of its inputs',
  variant('SignedTransactionPayload', 1, { transaction: Transaction, unlocks: Unlocks }),
)

/** A transaction with the unlocks of its inputs. */
export const SignedTransaction = unlocksInItsNumbering(signedTransaction)
export interface SignedTransaction extends Infer<typeof SignedTransaction> {}

export const CandidacyAnnouncement = about(
  'the issuer, a validator, announces its candidacy for the committee of the next epoch',
  variant('CandidacyAnnouncementPayload', 2, {}),
)
export interface CandidacyAnnouncement extends Infer<typeof CandidacyAnnouncement> {}

/** The payload of a basic block. */
export const Payload = union('Payload', TaggedData, SignedTransaction, CandidacyAnnouncement)
export type Payload = Infer<typeof Payload>

function allPayloads(): readonly AnyVariant[] {
  return Payload.variants
}
