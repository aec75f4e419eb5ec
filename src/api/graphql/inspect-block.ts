import { bytesToHex, hexToBytes } from '../../lib/hex.ts'
import type { Unreadable } from '../../tools/inspect-any.ts'
import {
  type Form,
  type InspectedBlock,
  type InspectedTransaction,
  inspectBlock,
} from '../../tools/inspect-block.ts'
import { printError } from '../../tools/inspect-errors.ts'
import { toGraphQL } from '../errors.ts'
import { builder } from './builder.ts'
import { eachOf } from './exposed.ts'
import { BlockContent } from './model.ts'
import { fieldCost, free, judgementBase, judgementCost } from './prices.ts'

/** Inspects a block without submitting it, as `ledger-gateway inspect` does, for this network. */

const InspectBlockInput = builder.inputType('InspectBlockInput', {
  description: 'A block in one of two forms.',
  isOneOf: true,
  fields: (t) => ({
    json: t.field({ type: 'JSON', description: 'A block in the JSON of the protocol.' }),
    bytes: t.field({ type: 'Hex', description: 'A serialized block, at most 32768 bytes.' }),
  }),
})

interface Broken {
  readonly error: Unreadable['error']
  /** What breaks it. */
  readonly subject: string
}

/** A rule that a value breaks. */
export const BrokenRule = builder.objectRef<Broken>('BrokenRule').implement({
  description: 'A rule that a value breaks, and where.',
  fields: (t) => ({
    code: t.string({ description: 'The name of the rule.', resolve: ({ error }) => error.code }),
    path: t.string({
      description:
        'The way to the broken part, from the value inwards; empty for the value itself.',
      resolve: ({ error }) => error.path,
    }),
    offset: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The byte at which the broken part begins; null for a value in JSON.',
      resolve: ({ error }) => ('offset' in error ? error.offset : undefined),
    }),
    message: t.string({
      description: 'The rule as a sentence.',
      resolve: ({ error, subject }) => printError(error, subject).message,
    }),
    isOfNodeAlone: t.boolean({
      description:
        'Whether only the node has this rule, so that the official SDK accepts the block.',
      resolve: ({ error }) => 'of' in error && error.of === 'node',
    }),
    isOfSdkAlone: t.boolean({
      description: 'Whether only the official SDK has this rule, so that nodes accept the block.',
      resolve: ({ error }) => 'of' in error && error.of === 'sdk',
    }),
  }),
})

const CreatedChain = builder.objectRef<readonly [number, `0x${string}`]>('CreatedChain').implement({
  description: 'An account, anchor, NFT or delegation that a transaction creates.',
  fields: (t) => ({
    outputIndex: t.int({
      description: 'The index of the output, 0 to 127.',
      resolve: ([index]) => index,
    }),
    id: t.field({
      type: 'Hex',
      description: 'The id it gets: the hash of the output id, 32 bytes.',
      resolve: ([, id]) => id,
    }),
  }),
})

/** What follows from a signed transaction alone. */
export const TransactionInspection = builder
  .objectRef<InspectedTransaction>('TransactionInspection')
  .implement({
    description: 'What follows from a signed transaction alone.',
    fields: (t) => ({
      transactionId: t.field({
        type: 'TransactionId',
        description: 'The id of the transaction.',
        resolve: ({ identity }) => identity.transactionId,
      }),
      ...eachOf(
        {
          transactionCommitment: 'The hash of the essence, 32 bytes.',
          outputCommitment: 'The Merkle root over the outputs, 32 bytes.',
        },
        (name, description) =>
          t.field({ type: 'Hex', description, resolve: ({ identity }) => identity[name] }),
      ),
      signingHash: t.field({
        type: 'Hex',
        description: 'What every signature unlock signs, 32 bytes.',
        resolve: ({ identity }) => bytesToHex(identity.signingHash),
      }),
      outputIds: t.field({
        complexity: free,
        type: ['OutputId'],
        description: 'The ids of the outputs it creates, in order.',
        resolve: ({ outputIds }) => [...outputIds],
      }),
      createdChains: t.field({
        complexity: free,
        type: [CreatedChain],
        description: 'The new chains among the outputs, in order.',
        resolve: ({ createdChainIds }) => [...createdChainIds],
      }),
      areSignaturesValid: t.field({
        complexity: free,
        type: ['Boolean'],
        description: 'Whether each signature is right, in order, those in multi unlocks too.',
        resolve: ({ areSignaturesValid }) => [...areSignaturesValid],
      }),
    }),
  })

/** What follows from a block alone. */
export const BlockInspection = builder.objectRef<InspectedBlock>('BlockInspection').implement({
  description: 'What follows from a block alone.',
  fields: (t) => ({
    isWellFormed: t.boolean({
      description:
        'Whether the official SDK accepts it: it breaks no rule but those of the node alone.',
      resolve: ({ problems }) => problems.every((problem) => problem.of === 'node'),
    }),
    problems: t.field({
      complexity: free,
      type: [BrokenRule],
      description: 'Every rule of form that it breaks.',
      resolve: ({ problems }) => problems.map(ofBlock),
    }),
    block: t.expose('block', {
      complexity: free,
      type: BlockContent,
      description: 'The content of the block.',
    }),
    bytes: t.field({
      type: 'Hex',
      description: 'The block as it was given, or as its JSON serializes.',
      complexity: fieldCost.blockBytes,
      resolve: ({ bytes }) => bytesToHex(bytes),
    }),
    size: t.int({ description: 'Its length in bytes.', resolve: ({ bytes }) => bytes.length }),
    blockId: t.field({
      type: 'BlockId',
      description: 'The id of the block.',
      resolve: ({ identity }) => identity.blockId,
    }),
    ...eachOf(
      {
        headerHash: 'The hash of the header, 32 bytes.',
        bodyHash: 'The hash of the body, 32 bytes.',
      },
      (name, description) =>
        t.field({ type: 'Hex', description, resolve: ({ identity }) => identity[name] }),
    ),
    signingInput: t.field({
      type: 'Hex',
      description: 'What the issuer signs, 64 bytes.',
      resolve: ({ identity }) => bytesToHex(identity.signingInput),
    }),
    slot: t.expose('slot', { type: 'UInt32', description: 'The slot of its issuing time.' }),
    workScore: t.field({
      type: 'UInt32',
      description: 'What it costs to process, as the official SDK counts it.',
      resolve: ({ workScore }) => workScore,
    }),
    isSignatureValid: t.exposeBoolean('isSignatureValid', {
      description: "Whether the issuer's signature is right; no part of the form.",
    }),
    transaction: t.field({
      complexity: free,
      type: TransactionInspection,
      nullable: true,
      description: 'What follows from its transaction; null where it carries none.',
      resolve: ({ transaction }) => transaction,
    }),
  }),
})

const InspectBlockResult = builder.unionType('InspectBlockResult', {
  description: 'What a block is, or the rule for which it cannot be read at all.',
  types: [BlockInspection, BrokenRule],
  resolveType: (result) => ('identity' in result ? 'BlockInspection' : 'BrokenRule'),
})

builder.queryField('inspectBlock', (t) =>
  t.field({
    type: InspectBlockResult,
    nullable: true,
    description: 'Inspects a block by the rules of this network, without submitting it.',
    complexity: judgementCost,
    args: {
      input: t.arg({
        type: InspectBlockInput,
        required: true,
        description: 'The block, in one of its forms.',
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

function ofBlock(error: Broken['error']): Broken {
  return { error, subject: 'the block' }
}
