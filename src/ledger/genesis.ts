import { bytesToHex, type Hex } from '../lib/hex.ts'
import { blake2b256 } from '../protocol/hash.ts'
import { outputId } from '../protocol/ids.ts'
import { merkleRoot } from '../protocol/merkle.ts'
import { Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type {
  AccountId,
  BlockId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import { Writer } from '../protocol/schema/writer.ts'
import { changedAccounts } from './account-changes.ts'
import type { AccountEntry } from './accounts.ts'

/** The first state of a ledger, which no transaction made (ledger reference 12.6). */

/** The hashes of the first outputs. */
export interface GenesisIdentity {
  readonly transactionCommitment: Hex
  readonly outputCommitment: Hex
  /** The transaction that the outputs are said to come from. */
  readonly transactionId: TransactionId
  /** In the order of the outputs. */
  readonly outputIds: readonly OutputId[]
  /** The block that the transaction is said to come from. */
  readonly blockId: BlockId
}

/** Identifies the first outputs of a network. */
export function identifyGenesis(
  { genesisSlot }: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
): GenesisIdentity {
  const transactionCommitment = blake2b256(new TextEncoder().encode('genesis'))
  const outputCommitment = merkleRoot(outputs.map((output) => encode(Output, output)))
  const hash = blake2b256(transactionCommitment, outputCommitment)
  const transactionId = withSlot(hash, genesisSlot) as TransactionId
  return {
    transactionCommitment: bytesToHex(transactionCommitment),
    outputCommitment: bytesToHex(outputCommitment),
    transactionId,
    outputIds: outputs.map((_, index) => outputId(transactionId, index)),
    blockId: genesisBlockId({ genesisSlot }),
  }
}

/** The block that the first transaction is said to come from. */
export function genesisBlockId({ genesisSlot }: Pick<ProtocolParameters, 'genesisSlot'>): BlockId {
  return withSlot(new Uint8Array(32), genesisSlot) as BlockId
}

/** The first entries of the accounts ledger; `credits` holds those that are not 0. */
export function genesisAccounts(
  parameters: ProtocolParameters,
  outputs: readonly { readonly outputId: OutputId; readonly output: Output }[],
  credits: ReadonlyMap<AccountId, bigint>,
): readonly AccountEntry[] {
  const made = changedAccounts(parameters, () => undefined, {
    slot: parameters.genesisSlot,
    allotments: [],
    created: outputs,
    consumed: [],
    blocks: [],
    burnPrice: 0n,
  })
  return [...made.values()].flatMap((entry) =>
    entry === undefined
      ? []
      : [{ ...entry, credits: credits.get(entry.accountId) ?? entry.credits }],
  )
}

function withSlot(hash: Uint8Array, slot: SlotIndex): Hex {
  const writer = new Writer(36)
  writer.hex(bytesToHex(hash))
  writer.u32(slot)
  return bytesToHex(writer.bytes())
}
