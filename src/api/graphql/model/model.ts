import { Address } from '../../../protocol/addresses.ts'
import { Block } from '../../../protocol/block.ts'
import { OutputIdProof, SlotCommitment } from '../../../protocol/commitment.ts'
import { BlockIssuer, Metadata, Staking, StateMetadata } from '../../../protocol/features.ts'
import { Output } from '../../../protocol/outputs.ts'
import { ProtocolParameters } from '../../../protocol/parameters.ts'
import { Payload, SignedTransaction } from '../../../protocol/transaction.ts'
import { AddressNode, viewOfAddress } from '../types/address-node.ts'
import { declareObjects } from './from-schema.ts'
import { declareInputs } from './from-schema-inputs.ts'
import { inputFold } from './input-json.ts'
import { collectTypes } from './protocol-types.ts'

/** The object model of the protocol in GraphQL: object types for all types, and inputs for blocks. */

/** The root types. They contain all other types that the protocol declares. */
export const protocolRoots = [Block, SlotCommitment, OutputIdProof, ProtocolParameters]

// Every address in a protocol type becomes the node type `Address`.
const edges = new Map([
  [
    Address.name,
    { type: AddressNode, resolve: (address: unknown) => viewOfAddress(address as Address) },
  ],
])

const objects = declareObjects(collectTypes(protocolRoots), edges)

export const BlockContent = objects.struct(Block)

/** A decoded transaction with its unlocks. */
export const SignedTransactionType = objects.struct(SignedTransaction)

/** A decoded output of any kind. */
export const OutputContent = objects.family(Output)

/** A decoded address of any kind. */
export const AddressContent = objects.family(Address)

export const SlotCommitmentType = objects.struct(SlotCommitment)

/** A decoded proof that an output belongs to a transaction. */
export const OutputIdProofType = objects.struct(OutputIdProof)

/** Decoded features of outputs. */
export const MetadataType = objects.struct(Metadata)
export const StateMetadataType = objects.struct(StateMetadata)
export const BlockIssuerType = objects.struct(BlockIssuer)
export const StakingType = objects.struct(Staking)

export const ProtocolParametersType = objects.struct(ProtocolParameters)

const blockTypes = collectTypes([Block])
const inputs = declareInputs(blockTypes)

/** The input for a block. `blockInput` converts its value. */
export const BlockInput = inputs.of(Block.name)

/** The input for a payload from which the node builds a block. `payloadInput` converts its value. */
export const PayloadInput = inputs.of(Payload.name)

/** Converts values of `BlockInput` to the JSON of a block, and paths of the JSON back to paths of the input. */
export const blockInput = inputFold(Block, blockTypes)

/** Converts values of `PayloadInput` to the JSON of a payload, and paths of the JSON back to paths of the input. */
export const payloadInput = inputFold(Payload, blockTypes)

/** The input for a signed transaction. `signedTransactionInput` converts its value. */
export const SignedTransactionInput = inputs.of(SignedTransaction.name)

/** Converts values of `SignedTransactionInput` to the JSON of a signed transaction, and paths of the JSON back to paths of the input. */
export const signedTransactionInput = inputFold(SignedTransaction, blockTypes)
