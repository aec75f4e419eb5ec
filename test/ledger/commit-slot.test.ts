import { describe, expect, test } from 'vitest'
import {
  commitSlot,
  genesisCommitment,
  nextReferenceManaCost,
  parametersRoot,
} from '../../src/ledger/commit-slot.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { SlotCommitment } from '../../src/protocol/commitment.ts'
import { commitmentId } from '../../src/protocol/ids.ts'
import { merkleRoot } from '../../src/protocol/merkle.ts'
import { networkOf } from '../../src/protocol/network.ts'
import { BlockId, TransactionId } from '../../src/protocol/primitives.ts'
import { decode } from '../../src/protocol/schema/schema.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface RootsVector extends Vector {
  readonly params: string
  readonly roots: readonly Hex[]
  readonly commitment: unknown
  readonly expected: Hex
}

interface AccountsVector extends Vector {
  readonly params: string
  readonly start: { readonly slot: number; readonly referenceManaCost: string }
  readonly slots: readonly {
    readonly slot: number
    readonly blocks?: readonly { readonly kind: string; readonly workScore: number }[]
  }[]
  readonly expected: {
    readonly slots: readonly { readonly slot: number; readonly referenceManaCost: string }[]
  }
}

const roots = loadVectors<RootsVector>('semantic-roots')

describe('the parts of a commitment', () => {
  test.each(roots.filter(({ kind }) => kind === 'roots'))('$name', (vector) =>
    expect(bytesToHex(merkleRoot(vector.roots.map(hexToBytes)))).toBe(vector.expected),
  )

  test.each(roots.filter(({ kind }) => kind === 'commitment'))('$name', (vector) =>
    expect(commitmentId(parsed(SlotCommitment, vector.commitment))).toBe(vector.expected),
  )

  test.each(roots.filter(({ kind }) => kind === 'parameters'))('$name', (vector) => {
    const network = networkOf(semanticParameters(vector.params))
    expect(bytesToHex(parametersRoot(network, 0))).toBe(vector.expected)
  })
})

describe('reference mana cost, slot by slot', () => {
  const replays = loadVectors<AccountsVector>('semantic-accounts')
  test.each(replays)('$name', ({ params, start, slots, expected }) => {
    const rules = semanticParameters(params).congestionControlParameters
    let cost = BigInt(start.referenceManaCost)
    for (const { slot, referenceManaCost } of expected.slots) {
      const blocks = slots.find((one) => one.slot === slot)?.blocks ?? []
      const basic = blocks.filter(({ kind }) => kind === 'basic')
      const workScore = basic.reduce((sum, block) => sum + block.workScore, 0)
      cost = nextReferenceManaCost(rules, cost, workScore)
      expect([slot, cost]).toEqual([slot, BigInt(referenceManaCost)])
    }
  })
})

describe('the commitment of a slot', () => {
  const network = networkOf(semanticParameters('standard'))
  const former = genesisCommitment(network.parameters)
  const empty = { former, blockIds: [], transactionIds: [], workScore: 0 }

  test('follows the genesis commitment of the vectors', () => {
    const [genesis] = roots.filter(({ name }) => name === 'genesis-commitment-id')
    expect(former.commitmentId).toBe(genesis?.expected)
  })

  test('refers to the previous slot', () => {
    const first = commitSlot(network, empty)
    const second = commitSlot(network, { ...empty, former: first })
    expect(first.commitment).toMatchObject({ slot: 1, previousCommitmentId: former.commitmentId })
    expect(second.commitment).toMatchObject({ slot: 2, previousCommitmentId: first.commitmentId })
    expect(decode(SlotCommitment, second.bytes)).toEqual({ ok: true, value: second.commitment })
    expect(second.commitment.rootsId).toBe(first.commitment.rootsId)
  })

  test('depends on the blocks and on the transactions, not on their order', () => {
    const blockIds = ['11', '22'].map((pair) => parsed(BlockId, `0x${pair.repeat(36)}`))
    const transactionIds = ['33', '44'].map((pair) => parsed(TransactionId, `0x${pair.repeat(36)}`))
    const contents = [
      empty,
      { ...empty, blockIds },
      { ...empty, transactionIds },
      { ...empty, blockIds, transactionIds },
    ]
    const ids = contents.map((content) => commitSlot(network, content).commitment.rootsId)
    expect(new Set(ids).size).toBe(contents.length)
    const turned = { ...empty, blockIds: blockIds.toReversed() }
    expect(commitSlot(network, turned).commitment.rootsId).toBe(ids[1])
  })
})
