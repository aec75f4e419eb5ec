import { afterEach, expect, test } from 'vitest'
import { outputEntries } from '../../../src/ledger/trie-entries.ts'
import { trieRootOf } from '../../../src/ledger/trie-root.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { openProofThread, type ProofThread } from '../../../src/node/snapshot/proof-thread.ts'
import {
  firstCheck,
  type ProvenOutput,
  snapshotLine,
} from '../../../src/node/snapshot/snapshot-format.ts'
import { OutputIdProof } from '../../../src/protocol/commitment.ts'
import { outputId, transactionIdOf } from '../../../src/protocol/ids.ts'
import { merkleRoot } from '../../../src/protocol/merkle.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import { createProver } from '../../../src/protocol/proofs.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { ownedBy, user } from '../../support/wallet.ts'

/** Compares the thread that proves a snapshot with the root that this thread computes of all ids at once. */

const outputsPerTransaction = 5
const transactions = Array.from({ length: 120 }, (_, n) => outputsOf(n))
const lines = transactions.map((rows) => lineOf(rows))
const ids = transactions.flat().map((row) => row.outputId)

function outputsOf(n: number): ProvenOutput[] {
  const slot = 7
  const outputBytes = Array.from({ length: outputsPerTransaction }, (_, i) =>
    encode(Output, ownedBy(user(1), BigInt(1_000_000 + n * outputsPerTransaction + i))),
  )
  const prove = createProver(outputBytes)
  const transactionCommitment = bytesToHex(new Uint8Array(32).fill(n))
  const root = bytesToHex(merkleRoot(outputBytes))
  const transactionId = transactionIdOf(transactionCommitment, root, slot)
  return outputBytes.map((bytes, outputIndex) => {
    const outputCommitmentProof = prove(outputIndex)
    const proof = { slot, outputIndex, transactionCommitment, outputCommitmentProof }
    return {
      outputId: outputId(transactionId, outputIndex),
      bytes,
      blockId: undefined,
      bookedSlot: slot,
      chainOrdinal: undefined,
      proof: bytesToHex(encode(OutputIdProof, proof)),
    }
  })
}

function lineOf(rows: readonly ProvenOutput[]): string {
  return snapshotLine(firstCheck, { section: 'outputs', rows }).text
}

const opened: ProofThread[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

function open(options: { readonly isWhole: boolean; readonly maxEntries?: number }): ProofThread {
  const thread = openProofThread({ withProofs: true, maxEntries: undefined, ...options })
  opened.push(thread)
  return thread
}

/** Returns all ids in pages, and counts how often they are read. */
function pages() {
  let reads = 0
  async function* read() {
    reads++
    for (let at = 0; at < ids.length; at += 70) yield ids.slice(at, at + 70)
  }
  return { read, reads: () => reads }
}

async function* allEntries() {
  yield outputEntries(ids)
}

test.each([
  ['from the lines alone', { isWhole: true }, 0],
  ['from the database, after lines that a former process received', { isWhole: false }, 1],
  ['from ranges, if memory has no room for all ids', { isWhole: true, maxEntries: 250 }, 2],
  ['from ranges of the database', { isWhole: false, maxEntries: 250 }, 3],
] as const)('the state root is computed %s', async (_name, options, expected) => {
  const thread = open(options)
  const received = options.isWhole ? lines : lines.slice(60)
  expect(await Promise.all(received.map(thread.unprovedIn))).toEqual(received.map(() => undefined))
  const { read, reads } = pages()
  expect(await thread.stateRoot(read)).toBe(await trieRootOf(allEntries))
  expect(reads()).toBe(expected)
})

test('an output without its own proof is reported, unless proofs are off', async () => {
  const [first = [], second = []] = transactions
  const other = { ...first[3], proof: second[3]?.proof } as ProvenOutput
  const damaged = { ...first[2], proof: '0x01' } as ProvenOutput
  const missing = { ...first[1], proof: undefined } as ProvenOutput
  const thread = open({ isWhole: true })
  for (const row of [other, damaged, missing]) {
    const line = lineOf(first.map((one) => (one.outputId === row.outputId ? row : one)))
    expect(await thread.unprovedIn(line)).toBe(row.outputId)
  }
  const unproving = openProofThread({ withProofs: false, isWhole: true, maxEntries: undefined })
  opened.push(unproving)
  expect(await unproving.unprovedIn(lineOf([missing]))).toBe(undefined)
})

test('a pending request is rejected when its thread closes', async () => {
  const thread = open({ isWhole: true })
  const pending = thread.unprovedIn(lineOf(transactions[0] ?? []))
  const closed = thread.close()
  await expect(pending).rejects.toThrow('the proof thread is closed')
  await closed
  await expect(thread.unprovedIn('')).rejects.toThrow('the proof thread is closed')
})
