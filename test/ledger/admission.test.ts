import { describe, expect, test } from 'vitest'
import {
  type AdmissionContext,
  admissionError,
  oldestParentSlot,
} from '../../src/ledger/admission.ts'
import { present } from '../../src/lib/assert.ts'
import { Block } from '../../src/protocol/block.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

/** Tests cases that the vectors of blocks, which use `verify`, do not cover. */

interface BlockVector extends Vector {
  readonly params: string
  readonly block: unknown
  readonly context: {
    readonly clock: string
    readonly parents: Readonly<Record<string, string>>
    readonly accounts: Readonly<
      Record<string, { readonly blockIssuerKeys: readonly `0x${string}`[] }>
    >
  }
}

const vectors = loadVectors<BlockVector>('semantic-blocks')
const vector = present(
  vectors.find(({ name }) => name === 'block/no-payload'),
  'the vector',
)
const block = parsed(Block, vector.block)
const account = present(vector.context.accounts[block.header.issuerId], 'the issuer')
const context: AdmissionContext = {
  parameters: semanticParameters(vector.params),
  now: BigInt(vector.context.clock),
  maxClockDriftNs: 0n,
  isCommitmentKnown: () => true,
  committee: new Set(),
  oldestParentSlot: 0,
  issuingTimeOf: (blockId) => BigInt(vector.context.parents[blockId] ?? 0),
  issuer: { credits: 0n, expirySlot: 0xffff_ffff, keyHashes: account.blockIssuerKeys },
  referenceManaCost: 1n,
}

describe('a block', () => {
  const rows = [
    ['without a fault', {}, undefined],
    [
      'with a parent that is too old',
      { oldestParentSlot: 0xffff_ffff, issuingTimeOf: () => undefined },
      'PARENT_TOO_OLD',
    ],
    ['with an unknown commitment', { isCommitmentKnown: () => false }, 'COMMITMENT_UNKNOWN'],
    ['with an unknown price', { referenceManaCost: undefined }, 'REFERENCE_MANA_COST_UNKNOWN'],
    [
      'with an unknown price, by an unknown issuer',
      { referenceManaCost: undefined, issuer: undefined },
      'ISSUER_UNKNOWN',
    ],
    [
      'that burns too little, by an issuer in debt',
      { referenceManaCost: 1_000_000n, issuer: { credits: -1n, expirySlot: 0, keyHashes: [] } },
      'BURNED_MANA_TOO_LITTLE',
    ],
    [
      'by an expired issuer in debt',
      { issuer: { credits: -1n, expirySlot: 0, keyHashes: [] } },
      'ISSUER_IN_DEBT',
    ],
    [
      'by an expired issuer, with another key',
      { issuer: { credits: 0n, expirySlot: 0, keyHashes: [] } },
      'ISSUER_EXPIRED',
    ],
  ] as const
  test.each(rows)('%s', (_name, changes, code) =>
    expect(admissionError(block, { ...context, ...changes })?.code).toBe(code),
  )
})

describe('the oldest slot of parents', () => {
  const parameters = { ...semanticParameters('standard'), genesisSlot: 100, maxCommittableAge: 20 }
  const rows = [
    ['is the genesis slot at the beginning', 119, 119, 100],
    ['is the first of the last committed slots', 120, 120, 101],
    ['stays at the same distance later', 500, 500, 481],
    ['is the last slot with blocks in quiet times', 500, 470, 470],
    ['is not the last slot with blocks if that is younger', 500, 499, 481],
  ] as const
  test.each(rows)('%s', (_name, committed, newestWithBlocks, oldest) =>
    expect(oldestParentSlot(parameters, committed, newestWithBlocks)).toBe(oldest),
  )
})
