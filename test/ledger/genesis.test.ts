import { describe, expect, test } from 'vitest'
import {
  createGenesisTransactions,
  identifyGenesis,
  identifyOutputs,
} from '../../src/ledger/genesis.ts'
import { present } from '../../src/lib/assert.ts'
import { indexOf, transactionOf } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { ownedOutput } from '../support/store-rows.ts'

/** The ids of first outputs, of which there may be any number. */

const parameters = { genesisSlot: 7 }

function outputs(count: number): Output[] {
  return Array.from({ length: count }, (_, i) => ownedOutput(i, 1_000n))
}

describe('the first outputs', () => {
  test('up to 128 are of the one transaction that a node gives them', () => {
    for (const count of [1, 128]) {
      const { outputIds } = identifyGenesis(parameters, outputs(count))
      expect(identifyOutputs(parameters, outputs(count))).toEqual(outputIds)
    }
  })

  test('behind each 128 another transaction begins', () => {
    const ids = identifyOutputs(parameters, outputs(300))
    expect(ids.map(indexOf)).toEqual(Array.from({ length: 300 }, (_, i) => i % 128))
    expect(new Set(ids.map(transactionOf)).size).toBe(3)
    expect(ids.slice(0, 128)).toEqual(identifyOutputs(parameters, outputs(128)))
  })

  test('equal ones have ids of their own, and each transaction its hash', () => {
    const same = Array.from({ length: 384 }, () => ownedOutput(1, 1_000n))
    const ids = identifyOutputs(parameters, same)
    expect(new Set(ids).size).toBe(384)
    const bytes = same.slice(0, 128).map((output) => encode(Output, output))
    const transactions = createGenesisTransactions()
    const commitments = [256, 0, 128].map((at) => {
      const id = transactionOf(present(ids[at], 'an id'))
      expect(transactions.commitmentOf(id, bytes.slice(1), 10)).toBe(undefined)
      return transactions.commitmentOf(id, bytes)
    })
    expect(new Set(commitments).size).toBe(3)
    expect(commitments).toEqual(
      [2, 0, 1].map((equal) => identifyGenesis(parameters, same, equal).transactionCommitment),
    )
  })
})
