import { Address } from '../../protocol/addresses.ts'
import { Block } from '../../protocol/block.ts'
import { OutputIdProof, SlotCommitment } from '../../protocol/commitment.ts'
import { BlockIssuer, Metadata, Staking, StateMetadata } from '../../protocol/features.ts'
import { Output } from '../../protocol/outputs.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import { Payload, SignedTransaction } from '../../protocol/transaction.ts'
import { AddressNode, viewOfAddress } from './address-node.ts'
import { declareObjects } from './from-schema.ts'
import { declareInputs } from './from-schema-inputs.ts'
import { inputFold } from './input-json.ts'
import { collectTypes } from './protocol-types.ts'

/** The object model of the protocol in GraphQL: every type as an object, and blocks as inputs. */

/** Everything that the protocol declares hangs on one of these. */
export const protocolRoots = [Block, SlotCommitment, OutputIdProof, ProtocolParameters]

// An address is a thing of the graph wherever the protocol writes one.
const edges = new Map([
  [
    Address.name,
    { type: AddressNode, resolve: (address: unknown) => viewOfAddress(address as Address) },
  ],
])

const objects = declareObjects(collectTypes(protocolRoots), edges)

/** A decoded block. */
export const BlockContent = objects.struct(Block)

/** A decoded transaction with its unlocks. */
export const SignedTransactionType = objects.struct(SignedTransaction)

/** A decoded output of any kind. */
export const OutputContent = objects.family(Output)

/** A decoded address of any kind. */
export const AddressContent = objects.family(Address)

/** A decoded slot commitment. */
export const SlotCommitmentType = objects.struct(SlotCommitment)

/** A decoded proof that an output belongs to a transaction. */
export const OutputIdProofType = objects.struct(OutputIdProof)

/** What an output says beside its amount. */
export const MetadataType = objects.struct(Metadata)
export const StateMetadataType = objects.struct(StateMetadata)
export const BlockIssuerType = objects.struct(BlockIssuer)
export const StakingType = objects.struct(Staking)

/** The parameters of a network. */
export const ProtocolParametersType = objects.struct(ProtocolParameters)

const blockTypes = collectTypes([Block])
const inputs = declareInputs(blockTypes)

/** A block, typed by hand. Its value goes through `blockInput`. */
export const BlockInput = inputs.of(Block.name)

/** A payload from which a block is to be built. Its value goes through `payloadInput`. */
export const PayloadInput = inputs.of(Payload.name)

/** Turns the values of `BlockInput` into the JSON of a block, and its paths back. */
export const blockInput = inputFold(Block, blockTypes)

/** Turns the values of `PayloadInput` into the JSON of a payload, and its paths back. */
export const payloadInput = inputFold(Payload, blockTypes)

/** A transaction with its unlocks. Its value goes through `signedTransactionInput`. */
export const SignedTransactionInput = inputs.of(SignedTransaction.name)

/** Turns the values of `SignedTransactionInput` into the JSON of a signed transaction, and its paths back. */
export const signedTransactionInput = inputFold(SignedTransaction, blockTypes)
