import { bytesToHex } from '../lib/hex.ts'
import { Block } from '../protocol/block.ts'
import type { Problem } from '../protocol/problems.ts'
import { type Json, print } from '../protocol/schema/schema.ts'
import type { InspectedBlock, InspectedTransaction } from './inspect-block.ts'
import { type PrintedError, printError } from './inspect-errors.ts'

/** Prints inspections as JSON. */

/** Prints the facts about a block. */
export function printBlock(inspected: InspectedBlock): { readonly [member: string]: Json } {
  const { block, bytes, slot, identity, workScore, transaction, problems } = inspected
  const { headerHash, bodyHash, blockId } = identity
  const signingInput = bytesToHex(identity.signingInput)
  return {
    json: print(Block, block),
    bytes: bytesToHex(bytes),
    size: bytes.length,
    ids: { headerHash, bodyHash, signingInput, slot, blockId },
    workScore,
    signatureValid: inspected.isSignatureValid,
    ...(transaction === undefined ? {} : printTransaction(transaction)),
    problems: problems.map(printProblem),
  }
}

/** Prints the facts about a transaction. */
export function printTransaction(inspected: InspectedTransaction): {
  readonly [member: string]: Json
} {
  const { identity, outputIds, createdChainIds, areSignaturesValid } = inspected
  const { transactionCommitment, outputCommitment, transactionId } = identity
  const signingHash = bytesToHex(identity.signingHash)
  const hashes = { transactionCommitment, outputCommitment, transactionId, signingHash }
  return {
    transaction: { ...hashes, outputIds },
    createdChainIds: Object.fromEntries(createdChainIds),
    unlockSignaturesValid: areSignaturesValid,
  }
}

/** Prints a broken rule with its message. */
function printProblem(problem: Problem): Json {
  const { offset, only, ...rule }: PrintedError = printError(problem, 'the block')
  const place = offset === undefined ? {} : { offset }
  return { ...rule, ...place, ...(only === undefined ? {} : { only }) }
}
