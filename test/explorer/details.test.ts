import { describe, expect, test } from 'vitest'
import { pictureOf, stepsOf } from '../../src/explorer/charts/balance-steps.ts'
import {
  afterKey,
  runsOf,
  type SerializedField,
  treeOf,
  visibleOf,
} from '../../src/explorer/parts/bytes/byte-rows.ts'
import { checkProof, type ProvenOutput } from '../../src/explorer/parts/outputs/output-proof.ts'
import { spansOf } from '../../src/explorer/parts/outputs/spans.ts'
import { checkUnspent, type UnspentProof } from '../../src/explorer/parts/outputs/unspent-proof.ts'
import { manaLane, tokenLanes } from '../../src/explorer/parts/transactions/lanes.ts'
import { outputTrieChanges } from '../../src/ledger/state-root.ts'
import { emptyTrie, emptyTrieRoot, trieRoot, updateTrie } from '../../src/ledger/trie.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex, hexToBytes } from '../../src/lib/hex.ts'
import { type ProofNode, SlotCommitment } from '../../src/protocol/commitment.ts'
import { sha256 } from '../../src/protocol/hash.ts'
import { commitmentId, outputId, transactionIdOf } from '../../src/protocol/ids.ts'
import { merkleRoot } from '../../src/protocol/merkle.ts'
import type { CommitmentId, OutputId } from '../../src/protocol/primitives.ts'
import { createProver } from '../../src/protocol/proofs.ts'
import { encode } from '../../src/protocol/schema/schema.ts'

/** Computations of the detail pages. */

describe('serialized fields', () => {
  const field = (path: string, offset: number, length: number, value: string | null = null) => ({
    ...{ path, offset, length, value, type: 'X', about: null },
  })
  const fields: readonly SerializedField[] = [
    field('', 0, 20),
    field('head', 0, 18),
    field('head.a', 0, 2, '7'),
    field('head.map', 2, 16),
    field('head.map.key.with.dots', 2, 16, '0x00'),
    field('tail', 18, 2, '9'),
  ]
  const tree = treeOf(fields)

  test('form a tree by their positions in the bytes', () => {
    expect(tree.map(({ name, level, end }) => [name, level, end])).toEqual([
      ['head', 1, 4],
      ['a', 2, 2],
      ['map', 2, 4],
      ['key.with.dots', 3, 4],
      ['tail', 1, 5],
    ])
  })

  test('are split into runs of bytes at the ends of rows', () => {
    const hex = `0x${Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(2, '0')).join('')}`
    expect(runsOf(hex, tree)).toEqual([
      [
        { field: 1, text: '00 01' },
        { field: 3, text: '02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f' },
      ],
      [
        { field: 3, text: '10 11' },
        { field: 4, text: '12 13' },
      ],
    ])
  })

  test('are navigated by keys, without the children of closed fields', () => {
    const closed = new Set([2])
    expect(visibleOf(tree, closed)).toEqual([0, 1, 2, 4])
    const after = (key: string, at: number) => afterKey(key, { tree, closed, at })
    expect(after('ArrowDown', 2)).toBe(4)
    expect(after('ArrowUp', 4)).toBe(2)
    expect(after('ArrowLeft', 1)).toBe(0)
    expect(after('ArrowLeft', 0)).toBe('TOGGLE')
    expect(after('ArrowRight', 2)).toBe('TOGGLE')
    expect(after('ArrowRight', 0)).toBe(1)
    expect(after('End', 0)).toBe(4)
    expect(after('ArrowDown', 4)).toBeUndefined()
    expect(after('Tab', 0)).toBeUndefined()
  })
})

describe('the proof of an output', () => {
  const slot = 0x01020304
  const essence = `0x${'ab'.repeat(32)}` as const

  /** The outputs of a transaction as GraphQL returns them. */
  function provenOutputs(count: number): readonly ProvenOutput[] {
    const leaves = Array.from({ length: count }, (_, i) => Uint8Array.of(1, 2, 3, i))
    const id = transactionIdOf(essence, bytesToHex(merkleRoot(leaves)), slot)
    const prove = createProver(leaves)
    return leaves.map((bytes, outputIndex) => ({
      outputId: outputId(id, outputIndex),
      bytes: bytesToHex(bytes),
      proof: {
        ...{ slot, outputIndex, transactionCommitment: essence },
        outputCommitmentProof: asGraph(prove(outputIndex)),
      },
    }))
  }

  function asGraph(node: ProofNode): ProvenOutput['proof']['outputCommitmentProof'] {
    if (node.type === 0) {
      return { __typename: 'HashableNode', l: asGraph(node.l), r: asGraph(node.r) }
    }
    return { __typename: node.type === 1 ? 'LeafHash' : 'ValueHash', hash: node.hash }
  }

  test.each([1, 2, 3, 7, 128])('holds for each of %i outputs', (count) => {
    for (const output of provenOutputs(count)) {
      expect(checkProof(output)).toMatchObject({
        verdict: 'PROVEN',
        transactionId: output.outputId.slice(0, -4),
      })
    }
  })

  test('fails if any byte is changed', () => {
    const output = present(provenOutputs(7)[4], 'an output')
    const text = JSON.stringify(output)
    const starts = [...text.matchAll(/0x(?:[0-9a-f]{2})+/g)].flatMap(({ index, 0: hex }) =>
      Array.from({ length: hex.length / 2 - 1 }, (_, n) => index + 2 + 2 * n),
    )
    // An id of 38 bytes, an output of 4 bytes, the essence and four hashes.
    expect(starts).toHaveLength(38 + 4 + 32 + 4 * 32)
    const verdicts = starts.map((at) => {
      const other = (Number.parseInt(text.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0')
      return checkProof(JSON.parse(text.slice(0, at) + other + text.slice(at + 2))).verdict
    })
    expect(new Set(verdicts)).toEqual(new Set(['OTHER_TRANSACTION', 'OTHER_BYTES']))
    const { proof } = output
    const indexed = { ...output, proof: { ...proof, outputIndex: 5 } }
    expect(checkProof(indexed).verdict).toBe('OTHER_PLACE')
    const dated = { ...output, proof: { ...proof, slot: slot + 1 } }
    expect(checkProof(dated).verdict).toBe('OTHER_TRANSACTION')
  })
})

describe('the proof that an output is unspent', () => {
  const ids = Array.from({ length: 40 }, (_, n) =>
    outputId(transactionIdOf(`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`, 7), n),
  )
  const trie = updateTrie(emptyTrie, outputTrieChanges({ created: ids, consumed: [] }))

  /** Returns the roots of the siblings on the path of an output, from the trie itself. */
  function besideOf(id: OutputId): readonly string[] {
    const path = sha256(hexToBytes(id))
    const beside: string[] = []
    let node = trie.top
    for (let bit = 0; node !== undefined && 'left' in node; bit++) {
      const isRight = ((path[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0
      const other = isRight ? node.left : node.right
      beside.push(bytesToHex(other?.root ?? emptyTrieRoot))
      node = isRight ? node.right : node.left
    }
    return beside
  }

  const roots = Array.from({ length: 8 }, (_, n) => new Uint8Array(32).fill(n))
  roots[2] = Uint8Array.from(trieRoot(trie))
  const commitment: SlotCommitment = {
    ...{ protocolVersion: 3, slot: 0x01020304, cumulativeWeight: 5n, referenceManaCost: 6n },
    previousCommitmentId: `0x${'ef'.repeat(36)}` as CommitmentId,
    rootsId: bytesToHex(merkleRoot(roots)),
  }
  const proofOf = (id: OutputId): UnspentProof => ({
    commitmentId: commitmentId(commitment),
    commitment: bytesToHex(encode(SlotCommitment, commitment)),
    roots: roots.map(bytesToHex),
    beside: besideOf(id),
  })

  test('holds for each output and for no other', () => {
    for (const id of ids) {
      expect(checkUnspent(id, proofOf(id))).toEqual({
        ...{ verdict: 'COMMITTED', slot: commitment.slot, rootsId: commitment.rootsId },
        ...{ commitmentId: commitmentId(commitment), stateRoot: bytesToHex(trieRoot(trie)) },
      })
    }
    const [one, other] = [present(ids[0], 'an output'), present(ids[1], 'another')]
    expect(checkUnspent(one, proofOf(other)).verdict).toBe('OTHER_STATE')
  })

  test('fails if any byte is changed', () => {
    const id = present(ids[5], 'an output')
    const text = JSON.stringify(proofOf(id))
    const verdicts = [...text.matchAll(/0x(?:[0-9a-f]{2})+/g)].flatMap(({ index, 0: hex }) =>
      Array.from({ length: hex.length / 2 - 1 }, (_, n) => {
        const at = index + 2 + 2 * n
        const byte = (Number.parseInt(text.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0')
        return checkUnspent(id, JSON.parse(text.slice(0, at) + byte + text.slice(at + 2))).verdict
      }),
    )
    expect(verdicts.length).toBeGreaterThan(36 + 89 + 8 * 32 + 4 * 32)
    expect(new Set(verdicts)).toEqual(new Set(['OTHER_STATE', 'OTHER_ROOTS', 'OTHER_COMMITMENT']))
    // With a missing root, another root has the position of the state root.
    const proof = proofOf(id)
    expect(checkUnspent(id, { ...proof, roots: proof.roots.slice(1) }).verdict).toBe('OTHER_STATE')
    const longer = { ...proof, commitment: `${proof.commitment}00` }
    expect(checkUnspent(id, longer).verdict).toBe('OTHER_ROOTS')
  })
})

test.each([
  ['neither', { timelock: undefined, expiration: undefined }, [[undefined, undefined, 'OWNER']]],
  [
    'a timelock',
    { timelock: 10, expiration: undefined },
    [
      [undefined, 9, 'NO_ONE'],
      [10, undefined, 'OWNER'],
    ],
  ],
  [
    'an expiration',
    { timelock: undefined, expiration: 50 },
    [
      [undefined, 39, 'OWNER'],
      [40, 49, 'OWNER_OLD'],
      [50, undefined, 'RETURN'],
    ],
  ],
  [
    'both',
    { timelock: 45, expiration: 50 },
    [
      [undefined, 44, 'NO_ONE'],
      [45, 49, 'OWNER_OLD'],
      [50, undefined, 'RETURN'],
    ],
  ],
  [
    'a timelock that outlasts the expiration',
    { timelock: 60, expiration: 50 },
    [
      [undefined, 59, 'NO_ONE'],
      [60, undefined, 'RETURN'],
    ],
  ],
])('an output with %s shows who can spend it in which slots', (_name, terms, expected) => {
  const spans = spansOf({ ...terms, ages: 10 })
  expect(spans.map(({ from, until, who }) => [from, until, who])).toEqual(expected)
})

describe('the flow diagram of a transaction', () => {
  const output = (outputId: string, mana: string | null, token?: readonly [string, string]) => ({
    ...{ outputId, mana, owner: { bech32: `of ${outputId}` } },
    content: token ? { features: [{}, { tokenId: token[0], amount: token[1] }] } : {},
  })
  const mana = { byInput: ['70', '0'], rewards: '30', inputs: '100', outputs: '60' }
  const allotments = [{ accountId: '0x1', mana: '20' }]
  const inputs = [output('a', '50', ['0xt', '0x5']), output('b', '0', ['0xu', '0x1'])]

  test('shows mana by input, rewards, allotments and burned mana', () => {
    const outputs = [output('c', '40'), output('d', null)]
    expect(manaLane({ inputs, outputs, allotments, mana })).toEqual({
      left: [
        { key: 'a', kind: 'OUTPUT', id: 'of a', amount: 70n, written: 50n },
        { key: 'rewards', kind: 'REWARDS', amount: 30n },
      ],
      right: [
        { key: 'c', kind: 'OUTPUT', id: 'of c', amount: 40n },
        { key: '0x1', kind: 'ACCOUNT', id: '0x1', amount: 20n },
        { key: 'BURNED', kind: 'BURNED', amount: 40n },
      ],
    })
  })

  test('shows the missing mana of a failed transaction', () => {
    const lane = manaLane({ inputs, outputs: [], allotments, mana: { ...mana, outputs: '130' } })
    expect(lane?.left.at(-1)).toEqual({ key: 'MISSING', kind: 'MISSING', amount: 30n })
    expect(lane?.right[0]).toEqual({ key: 'planned', kind: 'PLANNED', amount: 110n })
    const none = { ...{ inputs: [], outputs: [], allotments: [] } }
    const empty = { byInput: [], rewards: '0', inputs: '0', outputs: '0' }
    expect(manaLane({ ...none, mana: empty })).toBeUndefined()
  })

  test('shows each native token with minted and melted amounts', () => {
    const outputs = [output('c', '0', ['0xt', '0xff'])]
    const lanes = tokenLanes({ inputs, outputs })
    const kinds = [...lanes].map(([id, { left, right }]) => [
      id,
      ...[...left, ...right].map(({ kind, amount }) => `${kind} ${amount}`),
    ])
    expect(kinds).toEqual([
      ['0xt', 'OUTPUT 5', 'MINTED 250', 'OUTPUT 255'],
      ['0xu', 'OUTPUT 1', 'MELTED 1'],
    ])
  })
})

describe('the chart of a balance', () => {
  const at = (timeMs: number, balance: bigint) => ({ timeMs, balance })

  test('has a step for each time, with its last balance', () => {
    const picture = pictureOf([at(0, 50n), at(10, 70n), at(10, 100n), at(20, 0n)])
    expect(picture?.steps).toEqual([at(0, 50n), at(10, 100n), at(20, 0n)])
    expect(picture).toMatchObject({
      places: [0, 500, 1000],
      max: 100n,
      line: 'M0 52H0V52H500V4H1000V100H1000',
      changes: undefined,
    })
  })

  test('has a separate axis for changes that are too small to see', () => {
    const picture = pictureOf([at(0, 1000n), at(10, 1004n), at(20, 1002n)])
    expect(picture?.changes).toEqual({ max: 4n, gained: 'M500 100V4', lost: 'M1000 100V52' })
  })

  test('has steps at the times of changes and ends with the last point', () => {
    const moment = (minute: number) => `2026-01-01T00:0${minute}:00Z`
    const point = (minute: number, total: string, changed: number | null) => ({
      ...{ milestoneEndedAt: moment(minute), total },
      changedAt: changed === null ? null : moment(changed),
    })
    const points = [point(1, '5', 0), point(3, '5', 0), point(5, '7', 4), point(7, '7', 4)]
    const steps = pictureOf(stepsOf(points))?.steps
    expect(steps?.map(({ timeMs, balance }) => [new Date(timeMs).getMinutes(), balance])).toEqual([
      // The balance is older, but the chart does not show the time before.
      [1, 5n],
      [4, 7n],
      [7, 7n],
    ])
    expect(stepsOf([point(1, '0', null)])).toEqual([
      at(Date.parse(moment(1)), 0n),
      at(Date.parse(moment(1)), 0n),
    ])
    expect(stepsOf([])).toEqual([])
  })

  test('is absent for a single time', () => {
    expect(pictureOf([at(5, 1n), at(5, 2n)])).toBeUndefined()
  })
})
