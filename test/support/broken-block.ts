import { Block } from '../../src/protocol/block.ts'
import { parsed } from './parsed.ts'

const zeros = (count: number) => `0x${'00'.repeat(count)}`
const key = { type: 0, pubKeyHash: zeros(32) }
const restricted = { type: 48, address: key, allowedCapabilities: '0x' }

/** A block of 29 KB that can be decoded, and breaks about 1,800 rules of form. */
export function blockOfManyProblems(): Block {
  const output = {
    type: 0,
    amount: '0',
    mana: '1',
    unlockConditions: [
      { type: 0, address: restricted },
      { type: 1, returnAddress: key, amount: '1' },
      { type: 2, slot: 1 },
      { type: 3, returnAddress: restricted, slot: 1 },
    ],
    features: [{ type: 5, id: zeros(38), amount: '0x1' }],
  }
  const input = { type: 0, transactionId: zeros(36), transactionOutputIndex: 200 }
  const header = {
    protocolVersion: 3,
    networkId: '1',
    issuingTime: '1',
    slotCommitmentId: zeros(36),
    latestFinalizedSlot: 0,
    issuerId: zeros(32),
  }
  const transaction = {
    networkId: '1',
    creationSlot: 1,
    contextInputs: [],
    inputs: Array(128).fill(input),
    outputs: Array(110).fill(output),
  }
  const payload = { type: 1, transaction, unlocks: Array(128).fill({ type: 6 }) }
  const body = { type: 0, strongParents: [zeros(36)], payload, maxBurnedMana: '0' }
  const signature = { type: 0, publicKey: zeros(32), signature: zeros(64) }
  return parsed(Block, { header, body, signature })
}
