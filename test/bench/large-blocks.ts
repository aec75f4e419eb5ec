import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { Block, maxBlockSize } from '../../src/protocol/block.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import type {
  AccountId,
  BlockId,
  CommitmentId,
  FoundryId,
  TransactionId,
} from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import type { Transaction } from '../../src/protocol/transaction.ts'
import type { Unlock } from '../../src/protocol/unlocks.ts'

/** Blocks of the maximum size, in three shapes, with pseudo-random contents that are equal in every run. */

/** The shapes by name; every block has 32,768 bytes. */
export function largeBlocks(): ReadonlyMap<string, Uint8Array> {
  const random = randomBytes(20_240_501)
  return new Map([
    ['four metadata maps', largest(1, metadataOutputs(random), random)],
    ['128 inputs, 110 outputs', largest(128, busyOutputs(random), random)],
    ['accounts of 128 keys', largest(1, accountOutputs(random), random)],
  ])
}

type Random = (size: number) => Hex

function metadataOutputs(random: Random): readonly Output[] {
  return Array.from({ length: 4 }, () => {
    const entries = Array.from({ length: 30 }, (_, i) => ({
      key: `key-${i + 10}`,
      value: random(256),
    }))
    return { ...basic(random), features: [{ type: 2, entries }] }
  })
}

function busyOutputs(random: Random): readonly Output[] {
  return Array.from({ length: 110 }, () => ({
    ...basic(random),
    unlockConditions: [
      { type: 0, address: address(random) },
      { type: 1, returnAddress: address(random), amount: 50_000n },
      { type: 2, slot: 1_000_000 },
      { type: 3, returnAddress: address(random), slot: 2_000_000 },
    ],
    features: [
      { type: 0, address: address(random) },
      { type: 5, id: random(38) as FoundryId, amount: BigInt(random(20)) },
    ],
  }))
}

function accountOutputs(random: Random): readonly Output[] {
  return Array.from({ length: 7 }, () => {
    const hashes = Array.from({ length: 128 }, () => random(32)).sort()
    const blockIssuerKeys = hashes.map((pubKeyHash) => ({ type: 0, pubKeyHash }) as const)
    return {
      type: 1,
      amount: 1_000_000n,
      mana: 2_000n,
      accountId: random(32) as AccountId,
      foundryCounter: 3,
      unlockConditions: [{ type: 0, address: address(random) }],
      features: [{ type: 6, expirySlot: 0xffff_ffff, blockIssuerKeys }],
      immutableFeatures: [],
    }
  })
}

function basic(random: Random) {
  const unlockConditions = [{ type: 0, address: address(random) } as const]
  return { type: 0, amount: 1_000_000n, mana: 2_000n, unlockConditions } as const
}

function address(random: Random) {
  return { type: 0, pubKeyHash: random(32) } as const
}

/** A block with outputs, filled up to the maximum size with tagged data. */
function largest(inputs: number, outputs: readonly Output[], random: Random): Uint8Array {
  const sizeLeft = maxBlockSize - encode(Block, blockOf(inputs, outputs, '0x', random)).length
  return encode(Block, blockOf(inputs, outputs, random(sizeLeft), random))
}

function blockOf(inputs: number, outputs: readonly Output[], data: Hex, random: Random): Block {
  const commitmentId = random(36) as CommitmentId
  const transaction: Transaction = {
    networkId: 1n,
    creationSlot: 100,
    contextInputs: [{ type: 0, commitmentId }],
    inputs: Array.from({ length: inputs }, (_, index) => {
      const transactionId = random(36) as TransactionId
      return { type: 0, transactionId, transactionOutputIndex: index }
    }),
    allotments: [],
    capabilities: '0x',
    payload: { type: 0, tag: '0x', data },
    outputs,
  }
  const signature = { type: 0, publicKey: random(32), signature: random(64) } as const
  const unlocks: Unlock[] = Array.from({ length: inputs }, (_, index) =>
    index === 0 ? { type: 0, signature } : { type: 1, reference: 0 },
  )
  return {
    header: {
      protocolVersion: 3,
      networkId: 1n,
      issuingTime: 1_700_000_000_000_000_000n,
      slotCommitmentId: commitmentId,
      latestFinalizedSlot: 90,
      issuerId: random(32) as AccountId,
    },
    body: {
      type: 0,
      strongParents: Array.from({ length: 4 }, () => random(36) as BlockId).sort(),
      weakParents: [],
      shallowLikeParents: [],
      payload: { type: 1, transaction, unlocks },
      maxBurnedMana: 100n,
    },
    signature,
  }
}

/** Pseudo-random bytes from a 32-bit multiply-with-carry generator, which is sufficient for a benchmark. */
function randomBytes(seed: number): Random {
  let state = seed
  return (size) => {
    const bytes = new Uint8Array(size)
    for (let i = 0; i < size; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      bytes[i] = state >>> 24
    }
    return bytesToHex(bytes)
  }
}
