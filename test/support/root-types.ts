import { Address } from '../../src/protocol/addresses.ts'
import { Block } from '../../src/protocol/block.ts'
import { OutputIdProof, SlotCommitment } from '../../src/protocol/commitment.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { Schema } from '../../src/protocol/schema/schema.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'

/** The top-level types; all other types are parts of them. */
export const rootTypes: Readonly<Record<string, Schema<unknown>>> = {
  Block,
  Output,
  Address,
  SignedTransaction,
  ProtocolParameters,
  SlotCommitment,
  OutputIdProof,
}
