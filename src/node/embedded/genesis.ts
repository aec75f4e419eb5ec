import { randomBytes } from 'node:crypto'
import { genesisCommitment } from '../../ledger/commit-slot.ts'
import { compareLogEntries, logEntries } from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { blake2b256 } from '../../protocol/hash.ts'
import { chainIdOf, outputId } from '../../protocol/ids.ts'
import { merkleRoot } from '../../protocol/merkle.ts'
import { type AccountOutput, isZero, Output } from '../../protocol/outputs.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, BlockId, OutputId, TransactionId } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { Writer } from '../../protocol/schema/writer.ts'
import type { Genesis } from '../../store/contract.ts'
import type { AccountRow } from '../../store/rows.ts'

/** The first state of a ledger (ledger reference 12.6, 14.1). */

/** What a network begins with. */
export interface GenesisPlan {
  readonly parameters: ProtocolParameters
  /** Their amounts add up to the token supply. */
  readonly outputs: readonly Output[]
  /** Block issuance credits of the accounts among the outputs; 0 where none are named. */
  readonly credits: ReadonlyMap<AccountId, bigint>
}

/** The rows that a plan makes. Only the log epoch is random: two networks of one plan have the same ids. */
export function genesisOf(plan: GenesisPlan): Genesis {
  const { parameters, outputs } = plan
  const { genesisSlot: slot } = parameters
  const bytes = outputs.map((output) => encode(Output, output))
  const transactionId = genesisTransactionId(bytes, slot)
  const ids = outputs.map((_, index) => outputId(transactionId, index))
  const { commitmentId, bytes: commitmentBytes } = genesisCommitment(parameters)
  const entries = outputs.flatMap((output, i) =>
    logEntries(parameters, { outputId: present(ids[i], 'id'), output, isSpent: false, slot }),
  )
  return {
    network: {
      epoch: bytesToHex(randomBytes(8)),
      parameters: encode(ProtocolParameters, parameters),
    },
    outputs: outputs.map((_, i) => ({
      outputId: present(ids[i], 'id'),
      bytes: present(bytes[i], 'bytes'),
      blockId: genesisBlockId(slot),
      bookedSlot: slot,
    })),
    accounts: outputs.flatMap((output, i) =>
      output.type === 1 ? [accountRow(plan, output, present(ids[i], 'id'))] : [],
    ),
    commit: {
      slot,
      commitmentId,
      bytes: commitmentBytes,
      entries: entries.sort(compareLogEntries),
    },
  }
}

/** The block that the first outputs are said to come from: no hash, then the genesis slot. */
export function genesisBlockId(genesisSlot: number): BlockId {
  return withSlot(new Uint8Array(32), genesisSlot) as BlockId
}

/** The first outputs belong to a transaction that never existed. */
function genesisTransactionId(outputs: readonly Uint8Array[], slot: number): TransactionId {
  const commitment = blake2b256(new TextEncoder().encode('genesis'))
  return withSlot(blake2b256(commitment, merkleRoot(outputs)), slot) as TransactionId
}

function accountRow(plan: GenesisPlan, output: AccountOutput, id: OutputId): AccountRow {
  const accountId = isZero(output.accountId) ? (chainIdOf(id) as AccountId) : output.accountId
  const issuer = output.features.find((feature) => feature.type === 6)
  return {
    accountId,
    outputId: id,
    credits: plan.credits.get(accountId) ?? 0n,
    updatedSlot: plan.parameters.genesisSlot,
    expirySlot: issuer?.expirySlot ?? 0,
    keyHashes: issuer?.blockIssuerKeys.map(({ pubKeyHash }) => pubKeyHash) ?? [],
  }
}

function withSlot(hash: Uint8Array, slot: number): Hex {
  const writer = new Writer(36)
  writer.hex(bytesToHex(hash))
  writer.u32(slot)
  return bytesToHex(writer.bytes())
}
