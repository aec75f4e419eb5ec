import { bytesToHex, hexToBytes } from '../../../lib/hex.ts'
import { Address } from '../../../protocol/addresses.ts'
import { Block } from '../../../protocol/block.ts'
import { Output } from '../../../protocol/outputs.ts'
import { encode, print } from '../../../protocol/schema/schema.ts'
import { minimumAmount, storageScore } from '../../../protocol/score.ts'
import { SignedTransaction } from '../../../protocol/transaction.ts'
import { simulateDecoded } from '../../../service/submit/simulate-transaction.ts'
import { type SubmitBlockError, simulateSubmission } from '../../../service/submit/submit-block.ts'
import {
  type AnyForm,
  type InspectedAddress,
  type InspectedOutput,
  inspectAny,
} from '../../../tools/inspect-any.ts'
import { messageOf, orThrow, toGraphQL } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed } from '../declare.ts'
import { ErrorCode } from '../error-code.ts'
import {
  computes,
  fieldCost,
  free,
  judgementBase,
  judgementCost,
  judgementOfParent,
} from '../execution/prices.ts'
import { OutputContent } from '../model/model.ts'
import { addressField } from './address-node.ts'
import { BlockInspection, BrokenRule, TransactionInspection } from './inspect-block.ts'
import { VerifiedTransaction } from './verify-transaction.ts'

/** Inspects a value that may be a block, a transaction, an output or an address, and simulates its submission. */

const ForeseenRefusal = builder.objectRef<SubmitBlockError>('ForeseenRefusal').implement({
  description: 'The error with which the submission of a block would fail.',
  fields: (t) => ({
    ...exposed(t, ErrorCode, { code: 'The error code.' }),
    message: t.string({ description: 'The error message.', resolve: messageOf }),
  }),
})

builder.objectFields(BlockInspection, (t) => ({
  json: t.field({
    complexity: fieldCost.blockBytes,
    type: 'JSON',
    description: 'The block in the JSON of the protocol.',
    resolve: ({ block }) => print(Block, block),
  }),
  refusal: t.field({
    complexity: judgementOfParent,
    type: ForeseenRefusal,
    nullable: true,
    description:
      'The error with which a submission of the block would fail now. Null if the block would be accepted. For the outcome of its transaction see `verdict`.',
    resolve: async ({ given }, _args, { services }) =>
      (await simulateSubmission(services, given)) ?? null,
  }),
}))

builder.objectFields(TransactionInspection, (t) => ({
  json: t.field({
    complexity: fieldCost.blockBytes,
    type: 'JSON',
    description: 'The payload in the JSON of the protocol.',
    resolve: ({ payload }) => print(SignedTransaction, payload),
  }),
  bytes: t.field({
    complexity: fieldCost.blockBytes,
    type: 'Hex',
    description: 'The serialized payload.',
    resolve: ({ payload }) => bytesToHex(encode(SignedTransaction, payload)),
  }),
  verdict: t.field({
    complexity: judgementOfParent,
    type: VerifiedTransaction,
    nullable: true,
    description:
      'The result that a submission of the transaction would have now, as in verifyTransaction. Null with an error if it is not known now.',
    resolve: async ({ payload }, _args, { services }) =>
      orThrow(await simulateDecoded(services, payload)),
  }),
}))

export const OutputInspection = builder.objectRef<InspectedOutput>('OutputInspection').implement({
  description: 'The facts that follow from an output alone, without the ledger.',
  fields: (t) => ({
    json: t.field({
      complexity: fieldCost.bytes,
      type: 'JSON',
      description: 'The output in the JSON of the protocol.',
      resolve: ({ output }) => print(Output, output),
    }),
    bytes: t.field({
      complexity: fieldCost.bytes,
      type: 'Hex',
      description: 'The serialized output.',
      resolve: ({ bytes }) => bytesToHex(bytes),
    }),
    content: t.expose('output', {
      complexity: free,
      type: OutputContent,
      description: 'The content of the output.',
    }),
    storageScore: t.field({
      complexity: computes(1),
      type: 'UInt64',
      description: 'The storage score of the output: its share of the storage of the ledger.',
      resolve: ({ output }, _args, { services }) =>
        storageScore(services.source.network.parameters.storageScoreParameters, output),
    }),
    minimumAmount: t.field({
      complexity: computes(1),
      type: 'UInt64',
      description:
        'The minimum number of base tokens that the output must hold, in the smallest unit.',
      resolve: ({ output }, _args, { services }) =>
        minimumAmount(services.source.network.parameters.storageScoreParameters, output),
    }),
  }),
})

export const AddressInspection = builder
  .objectRef<InspectedAddress>('AddressInspection')
  .implement({
    description: 'The facts that follow from an address alone, without the ledger.',
    fields: (t) => ({
      json: t.field({
        complexity: fieldCost.bytes,
        type: 'JSON',
        description:
          'The address in the JSON of the protocol. For a multi address of which only the reference is known, the reference as text.',
        resolve: ({ address, addressKey }) =>
          address === undefined ? addressKey : print(Address, address),
      }),
      bytes: t.field({
        complexity: fieldCost.bytes,
        type: 'Hex',
        description: 'The serialized address, or the reference of a multi address.',
        resolve: ({ address, addressKey }) =>
          address === undefined ? addressKey : bytesToHex(encode(Address, address)),
      }),
      address: addressField(t, 'The address on this network.', ({ addressKey }) => addressKey),
    }),
  })

const Inspection = builder.unionType('Inspection', {
  description: 'The facts about a value, or the rule that prevents it from being decoded.',
  types: [BlockInspection, TransactionInspection, OutputInspection, AddressInspection, BrokenRule],
  resolveType: (result) => {
    if ('error' in result) return 'BrokenRule'
    if ('block' in result) return 'BlockInspection'
    if ('payload' in result) return 'TransactionInspection'
    return 'output' in result ? 'OutputInspection' : 'AddressInspection'
  },
})

const InspectInput = builder.inputType('InspectInput', {
  description: 'A block, a signed transaction, an output or an address in one of three forms.',
  isOneOf: true,
  fields: (t) => ({
    json: t.field({ type: 'JSON', description: 'The value in the JSON of the protocol.' }),
    bytes: t.field({ type: 'Hex', description: 'The serialized value, at most 32768 bytes.' }),
    bech32: t.string({
      description: 'An address as Bech32 text, with any human-readable part.',
    }),
  }),
})

builder.queryField('inspect', (t) =>
  t.field({
    type: Inspection,
    nullable: true,
    description:
      'The facts about a value: a block, a signed transaction, an output or an address. Bytes are decoded as the first of these that fits all of them.',
    complexity: ({ input }) =>
      input.bech32 == null ? judgementCost({ input: { ...input } }) : computes(judgementBase),
    args: {
      input: t.arg({
        type: InspectInput,
        required: true,
        description: 'The value to inspect, in one of the forms of the input.',
      }),
    },
    resolve: async (_root, { input }, { services, budget }) => {
      budget.compute(judgementBase)
      const deps = { checker: services.signatures, network: services.source.network }
      const inspected = await inspectAny(deps, formOf(input))
      if (inspected.ok) return inspected.value
      if ('code' in inspected.error) throw toGraphQL(inspected.error)
      return inspected.error
    },
  }),
)

function formOf({ json, bytes, bech32 }: typeof InspectInput.$inferInput): AnyForm {
  if (bytes) return { form: 'bytes', bytes: hexToBytes(bytes) }
  return bech32 == null ? { form: 'json', json } : { form: 'bech32', text: bech32 }
}
