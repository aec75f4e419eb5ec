import { bytesToHex } from '../lib/hex.ts'
import { err, ok } from '../lib/result.ts'
import { OutputIdProof } from '../protocol/commitment.ts'
import { identifyTransaction, outputId, transactionIdOf } from '../protocol/ids.ts'
import { createProver, proofRoot } from '../protocol/proofs.ts'
import { encode, parse, print } from '../protocol/schema/schema.ts'
import { sdkProblems } from '../protocol/sdk-rules.ts'
import { Transaction } from '../protocol/transaction.ts'
import { below } from './input-members.ts'
import { type Input, type InspectResult, inspectValue } from './inspect-input.ts'

/** Proofs of output ids, computed from a transaction or read. */

/** Computes the proofs of all outputs if the input has a `transaction`; otherwise computes the output id that the given proof proves. */
export function inspectProofs(input: Input): InspectResult {
  return input.transaction === undefined ? inspectProof(input) : proveAll(input.transaction)
}

function proveAll(json: unknown): InspectResult {
  const transaction = parse(Transaction, json)
  if (!transaction.ok) return err(below(transaction.error, 'transaction'))
  const [problem] = sdkProblems(Transaction, transaction.value)
  if (problem !== undefined) return err({ ...problem, path: `transaction.${problem.path}` })
  const identity = identifyTransaction(transaction.value)
  const { transactionCommitment, outputCommitment, transactionId, outputBytes } = identity
  const prove = createProver(outputBytes)
  const proofs = outputBytes.map((_, outputIndex) => {
    const proof: OutputIdProof = {
      slot: transaction.value.creationSlot,
      outputIndex,
      transactionCommitment,
      outputCommitmentProof: prove(outputIndex),
    }
    return {
      proof: print(OutputIdProof, proof),
      bytes: bytesToHex(encode(OutputIdProof, proof)),
      outputId: outputId(transactionId, outputIndex),
    }
  })
  return ok({ ids: { transactionCommitment, outputCommitment, transactionId }, proofs })
}

function inspectProof(input: Input): InspectResult {
  return inspectValue(OutputIdProof, input, (proof) => {
    const { slot, outputIndex, transactionCommitment } = proof
    const outputCommitment = bytesToHex(proofRoot(proof.outputCommitmentProof))
    const transactionId = transactionIdOf(transactionCommitment, outputCommitment, slot)
    return {
      ids: { transactionCommitment, outputCommitment, transactionId },
      outputId: outputId(transactionId, outputIndex),
    }
  })
}
