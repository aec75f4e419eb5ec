import { bytesToHex, type Hex } from '../lib/hex.ts'
import { runToCompletion, type Steps } from '../lib/turns.ts'
import { blake2b256 } from '../protocol/hash.ts'
import { outputId, slotOfId, transactionIdOf, withSlot } from '../protocol/ids.ts'
import { merkleRoot } from '../protocol/merkle.ts'
import { Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import {
  type AccountId,
  type BlockId,
  maxPerTransaction,
  type OutputId,
  type TransactionId,
} from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import { accountChanges, accountShares } from './account-changes.ts'
import type { AccountEntry } from './accounts.ts'
import type { LedgerOutput } from './output-parts.ts'

/** The first state of a ledger, which no transaction created (ledger reference 12.6). */

/** The hashes of the first outputs. */
export interface GenesisIdentity {
  readonly transactionCommitment: Hex
  readonly outputCommitment: Hex
  /** The id of the nominal transaction of the outputs. */
  readonly transactionId: TransactionId
  /** In the order of the outputs. */
  readonly outputIds: readonly OutputId[]
  /** The id of the nominal block of the transaction. */
  readonly blockId: BlockId
}

/**
 * Computes the ids of the first outputs of a network, of any number. Every 128 outputs get a nominal transaction; the last one may have
 * fewer. Up to 128 outputs get the same ids as in a node.
 */
export function identifyOutputs(
  parameters: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
): readonly OutputId[] {
  return runToCompletion(identifySteps(parameters, outputs))
}

/** Computes the ids in steps, one transaction per step. */
export function* identifySteps(
  parameters: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
): Steps<readonly OutputId[]> {
  const known = new Map<Hex, number>()
  const outputIds: OutputId[] = []
  for (let from = 0; from < outputs.length; from += maxPerTransaction) {
    const own = outputs.slice(from, from + maxPerTransaction)
    const { outputCommitment } = identifyGenesis(parameters, own)
    const equal = known.get(outputCommitment) ?? 0
    known.set(outputCommitment, equal + 1)
    outputIds.push(...identifyGenesis(parameters, own, equal).outputIds)
    yield undefined
  }
  return outputIds
}

/** Finds the commitments of the nominal transactions of first outputs. */
export interface GenesisTransactions {
  /** The commitment of a transaction by its id and its outputs in order; `undefined` if they are not first outputs. */
  commitmentOf(id: TransactionId, outputs: readonly Uint8Array[], max?: number): Hex | undefined
}

/** Creates a search. Each of several transactions with the same outputs is tried once, up to `max` of them. */
export function createGenesisTransactions(): GenesisTransactions {
  const tried = new Map<string, Map<TransactionId, Hex>>()

  return {
    commitmentOf: (id, outputs, max = maxEqual) => {
      const outputCommitment = bytesToHex(merkleRoot(outputs))
      const slot = slotOfId(id)
      const key = `${outputCommitment}:${slot}`
      const known = tried.get(key) ?? new Map<TransactionId, Hex>()
      tried.set(key, known)
      while (!known.has(id) && known.size < max) {
        const commitment = bytesToHex(transactionCommitmentOf(known.size))
        known.set(transactionIdOf(commitment, outputCommitment, slot), commitment)
      }
      return known.get(id)
    },
  }
}

/** Limit of a search for outputs of another transaction. A ledger would need more than ten million equal outputs to reach it. */
const maxEqual = 100_000

/** The commitment of the transaction after `equal` transactions with the same outputs. It differs for each, so that their ids differ. */
function transactionCommitmentOf(equal: number): Uint8Array {
  const word = equal === 0 ? 'genesis' : `genesis ${equal}`
  return blake2b256(new TextEncoder().encode(word))
}

/** Computes the hashes of one nominal transaction that follows `equal` transactions with the same outputs. */
export function identifyGenesis(
  { genesisSlot }: Pick<ProtocolParameters, 'genesisSlot'>,
  outputs: readonly Output[],
  equal = 0,
): GenesisIdentity {
  const transactionCommitment = bytesToHex(transactionCommitmentOf(equal))
  const outputCommitment = bytesToHex(merkleRoot(outputs.map((output) => encode(Output, output))))
  const transactionId = transactionIdOf(transactionCommitment, outputCommitment, genesisSlot)
  return {
    transactionCommitment,
    outputCommitment,
    transactionId,
    outputIds: outputs.map((_, index) => outputId(transactionId, index)),
    blockId: genesisBlockId({ genesisSlot }),
  }
}

/** The id of the nominal block of the first transactions. */
export function genesisBlockId({ genesisSlot }: Pick<ProtocolParameters, 'genesisSlot'>): BlockId {
  return withSlot(new Uint8Array(32), genesisSlot) as BlockId
}

/** The first entries of the accounts ledger. `credits` holds the non-zero credits. */
export function* genesisAccounts(
  parameters: ProtocolParameters,
  outputs: readonly LedgerOutput[],
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
  const entries = yield* accountChanges(parameters, () => undefined, shares)
  return [...entries.values()].flatMap((entry) =>
    entry === undefined
      ? []
      : [{ ...entry, credits: credits.get(entry.accountId) ?? entry.credits }],
  )
}
