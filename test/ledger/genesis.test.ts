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

/** Tests the ids of genesis outputs, whose number is unlimited. */

const parameters = { genesisSlot: 7 }

function outputs(count: number): Output[] {
  return Array.from({ length: count }, (_, i) => ownedOutput(i, 1_000n))
}

describe('genesis outputs', () => {
  test('belong to one transaction, as on a node, if they are at most 128', () => {
    for (const count of [1, 128]) {
      const { outputIds } = identifyGenesis(parameters, outputs(count))
      expect(identifyOutputs(parameters, outputs(count))).toEqual(outputIds)
    }
  })

  test('belong to another transaction after each 128', () => {
    const ids = identifyOutputs(parameters, outputs(300))
    expect(ids.map(indexOf)).toEqual(Array.from({ length: 300 }, (_, i) => i % 128))
    expect(new Set(ids.map(transactionOf)).size).toBe(3)
    expect(ids.slice(0, 128)).toEqual(identifyOutputs(parameters, outputs(128)))
  })

  test('have different ids if they are equal, and each transaction has its own commitment', () => {
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
