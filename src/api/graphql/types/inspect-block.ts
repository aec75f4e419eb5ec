import { bytesToHex, hexToBytes } from '../../../lib/hex.ts'
import type { Form } from '../../../protocol/schema/schema.ts'
import type { Unreadable } from '../../../tools/inspect-any.ts'
import {
  type InspectedBlock,
  type InspectedTransaction,
  inspectBlock,
} from '../../../tools/inspect-block.ts'
import { printError } from '../../../tools/inspect-errors.ts'
import { toGraphQL } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed, exposedOf, exposedOrNull } from '../declare.ts'
import { fieldCost, free, judgementBase, judgementCost } from '../execution/prices.ts'
import { BlockContent } from '../model/model.ts'

/** Inspects a block by the rules of this network without submitting it, as `ledger-gateway inspect` does. */

const InspectBlockInput = builder.inputType('InspectBlockInput', {
  description: 'A block in one of two forms.',
  isOneOf: true,
  fields: (t) => ({
    json: t.field({ type: 'JSON', description: 'A block in the JSON of the protocol.' }),
    bytes: t.field({ type: 'Hex', description: 'A serialized block, at most 32768 bytes.' }),
  }),
})

export const BrokenRule = builder.objectRef<Unreadable>('BrokenRule').implement({
  description: 'A rule that a value breaks, with the location of the invalid part.',
  fields: (t) => ({
    code: t.string({ description: 'The code of the rule.', resolve: ({ error }) => error.code }),
    path: t.string({
      description: 'The path from the value to the invalid part. Empty for the value itself.',
      resolve: ({ error }) => error.path,
    }),
    offset: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The byte offset at which the invalid part begins. Null for a value in JSON.',
      resolve: ({ error }) => ('offset' in error ? error.offset : undefined),
    }),
    message: t.string({
      description: 'The violation as a sentence.',
      resolve: ({ error, subject }) => printError(error, subject).message,
    }),
    isOfNodeAlone: t.boolean({
      description: 'Whether only nodes apply this rule: the official SDK accepts the block.',
      resolve: ({ error }) => 'of' in error && error.of === 'node',
    }),
    isOfSdkAlone: t.boolean({
      description: 'Whether only the official SDK applies this rule: nodes accept the block.',
      resolve: ({ error }) => 'of' in error && error.of === 'sdk',
    }),
  }),
})

const CreatedChain = builder.objectRef<readonly [number, `0x${string}`]>('CreatedChain').implement({
  description: 'A chain that a transaction creates: an account, anchor, NFT or delegation.',
  fields: (t) => ({
    outputIndex: t.int({
      description: 'The index of the output, 0 to 127.',
      resolve: ([index]) => index,
    }),
    chainId: t.field({
      type: 'Hex',
      description: 'The id of the chain: the hash of the output id, 32 bytes.',
      resolve: ([, id]) => id,
    }),
  }),
})

export const TransactionInspection = builder
  .objectRef<InspectedTransaction>('TransactionInspection')
  .implement({
    description: 'The facts that follow from a signed transaction alone, without the ledger.',
    fields: (t) => ({
      ...exposedOf(t, ({ identity }) => identity, 'TransactionId', {
        transactionId: 'The id of the transaction.',
      }),
      ...exposedOf(t, ({ identity }) => identity, 'Hex', {
        transactionCommitment: 'The hash of the essence, 32 bytes.',
        outputCommitment: 'The Merkle root over the outputs, 32 bytes.',
      }),
      signingHash: t.field({
        type: 'Hex',
        description: 'The hash that every signature unlock signs, 32 bytes.',
        resolve: ({ identity }) => bytesToHex(identity.signingHash),
      }),
      ...exposed(t, ['OutputId'], {
        outputIds: 'The ids of the outputs that the transaction creates, in their order.',
      }),
      createdChains: t.field({
        complexity: free,
        type: [CreatedChain],
        description: 'The chains that the transaction creates, in the order of the outputs.',
        resolve: ({ createdChainIds }) => [...createdChainIds],
      }),
      ...exposed(t, ['Boolean'], {
        areSignaturesValid:
          'Whether each signature is valid, in the order of the unlocks. Signatures in multi unlocks are included.',
      }),
    }),
  })

export const BlockInspection = builder.objectRef<InspectedBlock>('BlockInspection').implement({
  description: 'The facts that follow from a block alone, without the ledger.',
  fields: (t) => ({
    isWellFormed: t.boolean({
      description:
        'Whether the official SDK accepts the block: it breaks no rules except rules that only nodes apply.',
      resolve: ({ problems }) => problems.every((problem) => problem.of === 'node'),
    }),
    problems: t.field({
      complexity: free,
      type: [BrokenRule],
      description: 'The syntactic rules that the block breaks.',
      resolve: ({ problems }) => problems.map(ofBlock),
    }),
    ...exposed(t, BlockContent, { block: 'The content of the block.' }),
    bytes: t.field({
      type: 'Hex',
      description: 'The serialized block.',
      complexity: fieldCost.blockBytes,
      resolve: ({ bytes }) => bytesToHex(bytes),
    }),
    size: t.int({
      description: 'The size of the block in bytes.',
      resolve: ({ bytes }) => bytes.length,
    }),
  }),
})

builder.objectFields(BlockInspection, (t) => ({
  ...exposedOf(t, ({ identity }) => identity, 'BlockId', { blockId: 'The id of the block.' }),
  ...exposedOf(t, ({ identity }) => identity, 'Hex', {
    headerHash: 'The hash of the header, 32 bytes.',
    bodyHash: 'The hash of the body, 32 bytes.',
  }),
  signingInput: t.field({
    type: 'Hex',
    description: 'The message that the issuer signs, 64 bytes.',
    resolve: ({ identity }) => bytesToHex(identity.signingInput),
  }),
  ...exposed(t, 'UInt32', {
    slot: 'The index of the slot that contains the issuing time.',
    workScore: 'The work score of the block, as the official SDK computes it.',
  }),
  ...exposed(t, 'Boolean', {
    isSignatureValid:
      'Whether the signature of the issuer is valid. It does not affect isWellFormed.',
  }),
  ...exposedOrNull(t, TransactionInspection, {
    transaction:
      'The facts that follow from the transaction of the block. Null if it carries no transaction.',
  }),
}))

const InspectBlockResult = builder.unionType('InspectBlockResult', {
  description: 'The facts about a block, or the rule that prevents it from being decoded.',
  types: [BlockInspection, BrokenRule],
  resolveType: (result) => ('identity' in result ? 'BlockInspection' : 'BrokenRule'),
})

builder.queryField('inspectBlock', (t) =>
  t.field({
    type: InspectBlockResult,
    nullable: true,
    description:
      'The facts about a block by the rules of this network. The block is not submitted.',
    complexity: judgementCost,
    args: {
      input: t.arg({
        type: InspectBlockInput,
        required: true,
        description: 'The block to inspect, in one of the forms of the input.',
      }),
    },
    resolve: async (_root, { input }, { services, budget }) => {
      budget.compute(judgementBase)
      const deps = { checker: services.signatures, network: services.source.network }
      const given: Form = input.bytes
        ? { form: 'bytes', bytes: hexToBytes(input.bytes) }
        : { form: 'json', json: input.json }
      const inspected = await inspectBlock(deps, given)
      if (inspected.ok) return inspected.value
      if (inspected.error.code === 'SIGNATURE_CHECK_BUSY') throw toGraphQL(inspected.error)
      return ofBlock(inspected.error)
    },
  }),
)

function ofBlock(error: Unreadable['error']): Unreadable {
  return { error, subject: 'the block' }
}
