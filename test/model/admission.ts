import { Block } from '../../src/protocol/block.ts'
import { publicKeyHash, slotOfId } from '../../src/protocol/ids.ts'
import { decode } from '../../src/protocol/schema/schema.ts'
import { nodeWorkScore } from '../../src/protocol/score.ts'
import { epochOfSlot, slotOfTime } from '../../src/protocol/slots.ts'
import type { Differences } from './differences.ts'
import type { Slots } from './slots.ts'
import type { StoredLedger } from './stored-ledger.ts'

/** Which blocks the issuers may issue (ledger reference 2). */

/** A block that the gateway refused, with its message. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly bytes: Uint8Array
}

/** Expects that every stored block was allowed, and that every refused block was refused for the first rule that it breaks. */
export function compareAdmission(
  ledger: StoredLedger,
  slots: Slots,
  refusals: readonly Refusal[],
  differ: Differences,
): void {
  for (const { blockId, block } of ledger.blocks) {
    differ.equal(
      `the rule that stored block ${blockId} breaks`,
      'none',
      brokenRule(block) ?? 'none',
    )
  }
  for (const { status, message, bytes } of refusals) {
    const block = decode(Block, bytes)
    // The rules below assume a block in time on known parents. The others are refused before.
    if (status !== 400 || !block.ok || /after|closed|parent|commitment|body/i.test(message))
      continue
    const rule = brokenRule(block.value)
    const isRule = rule !== undefined && refusalTexts[rule].test(message)
    differ.equal(`refusal "${message}"`, isRule ? rule : 'another rule', rule ?? 'none')
  }

  function brokenRule(block: Block): BrokenRule | undefined {
    const { parameters, commitments } = ledger
    const { issuerId, issuingTime, slotCommitmentId } = block.header
    const slot = slotOfTime(parameters, issuingTime)
    const committed = slotOfId(slotCommitmentId)
    const { body } = block
    const committee = slots.committeeOf(epochOfSlot(parameters, slot))
    const isMember = committee.some(({ accountId }) => accountId === issuerId)
    if (body.type === 1 && !isMember) return 'COMMITTEE'
    const entry = slots.entryAt(issuerId, committed)
    if (entry === undefined) return 'ACCOUNT'
    const price = commitments.get(committed)?.commitment.referenceManaCost ?? 0n
    const cost = BigInt(nodeWorkScore(parameters, block)) * price
    if (body.type === 0 && body.maxBurnedMana < cost) return 'COST'
    if (entry.credits < 0n) return 'DEBT'
    if (entry.expirySlot < committed) return 'EXPIRY'
    const key = publicKeyHash(block.signature.publicKey)
    return entry.keyHashes.includes(key) ? undefined : 'KEY'
  }
}

type BrokenRule = keyof typeof refusalTexts

const refusalTexts = {
  COMMITTEE: /committee/,
  ACCOUNT: /not an account/,
  COST: /less than the cost/,
  DEBT: /debt|owes|credits/,
  EXPIRY: /only up to slot/,
  KEY: /not a key/,
} as const
