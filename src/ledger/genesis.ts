import { bytesToHex, type Hex } from '../lib/hex.ts'
import { atOnce, type Steps } from '../lib/turns.ts'
import { blake2b256 } from '../protocol/hash.ts'
import { outputId, slotOfId, transactionIdOf } from '../protocol/ids.ts'
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
import { accountChanges, accountShares } from './account-changes.ts'
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

/** The most outputs of a transaction. */
export const outputsPerTransaction = 128

/**
 * Identifies the first outputs of a network, which may be any number: each 128 of them are said to come from a transaction of their
 * own, the last ones from one with fewer. Up to 128 have the ids that a node gives them.
 */
export function identifyOutputs(
  parameters: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
): readonly OutputId[] {
  return atOnce(identifySteps(parameters, outputs))
}

/** The same in steps of a transaction. */
export function* identifySteps(
  parameters: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
): Steps<readonly OutputId[]> {
  const known = new Map<Hex, number>()
  const outputIds: OutputId[] = []
  for (let from = 0; from < outputs.length; from += outputsPerTransaction) {
    const own = outputs.slice(from, from + outputsPerTransaction)
    const { outputCommitment } = identifyGenesis(parameters, own)
    const equal = known.get(outputCommitment) ?? 0
    known.set(outputCommitment, equal + 1)
    outputIds.push(...identifyGenesis(parameters, own, equal).outputIds)
    yield undefined
  }
  return outputIds
}

/** Finds the hashes of the transactions that first outputs are said to come from. */
export interface GenesisTransactions {
  /** By its id and its outputs in their order; `undefined` where they are no first outputs. */
  commitmentOf(id: TransactionId, outputs: readonly Uint8Array[], most?: number): Hex | undefined
}

/** Of transactions with the same outputs each is tried once, whatever their order; at most so many. */
export function createGenesisTransactions(): GenesisTransactions {
  const tried = new Map<string, Map<TransactionId, Hex>>()

  return {
    commitmentOf: (id, outputs, most = mostEqual) => {
      const outputCommitment = bytesToHex(merkleRoot(outputs))
      const slot = slotOfId(id)
      const key = `${outputCommitment}:${slot}`
      const known = tried.get(key) ?? new Map<TransactionId, Hex>()
      tried.set(key, known)
      while (!known.has(id) && known.size < most) {
        const commitment = bytesToHex(transactionCommitmentOf(known.size))
        known.set(transactionIdOf(commitment, outputCommitment, slot), commitment)
      }
      return known.get(id)
    },
  }
}

/** Ends the search where the outputs are not those of the transaction: more than ten million equal outputs would be needed. */
const mostEqual = 100_000

/** Those with the same outputs would have one id, so each but the first has another hash. */
function transactionCommitmentOf(equal: number): Uint8Array {
  const word = equal === 0 ? 'genesis' : `genesis ${equal}`
  return blake2b256(new TextEncoder().encode(word))
}

/** Identifies the outputs of one transaction, behind so many transactions with the same outputs. */
export function identifyGenesis(
  { genesisSlot }: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
  equal = 0,
): GenesisIdentity {
  const transactionCommitment = transactionCommitmentOf(equal)
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
export function* genesisAccounts(
  parameters: ProtocolParameters,
  outputs: readonly { readonly outputId: OutputId; readonly output: Output }[],
  credits: ReadonlyMap<AccountId, bigint>,
): Steps<readonly AccountEntry[]> {
  const shares = yield* accountShares({
    slot: parameters.genesisSlot,
    allotments: [],
    created: outputs,
    consumed: [],
    blocks: [],
    burnPrice: 0n,
  })
  const made = yield* accountChanges(parameters, () => undefined, shares)
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
