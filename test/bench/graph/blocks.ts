import { present } from '../../../src/lib/assert.ts'
import { checkedOwnBlock } from '../../../src/node/embedded/own-blocks.ts'
import { buildBlock, buildVote } from '../../../src/node/issuer.ts'
import type { CheckedBlock, LedgerSource } from '../../../src/node/source.ts'
import type { Block } from '../../../src/protocol/block.ts'
import { commitmentId, identifyTransaction } from '../../../src/protocol/ids.ts'
import type { BlockId, SlotIndex } from '../../../src/protocol/primitives.ts'
import type { Payload, SignedTransaction } from '../../../src/protocol/transaction.ts'
import type { Moment } from '../../support/ledger-world.ts'
import { createRandom } from '../../support/random.ts'
import { validators } from './genesis.ts'

/** Builds the blocks of a large ledger. The validators issue them, with recent blocks as parents. */

/** Builds the blocks of one slot. */
export interface SlotBlocks {
  /** The slot and the commitment for transactions of the slot. */
  readonly moment: Moment
  block(payload: Payload): CheckedBlock
  /** Builds one validation block of each validator and, in the candidacy slot of an epoch, one candidacy each. */
  votes(): CheckedBlock[]
}

/** The slot of an epoch in which the validators announce their candidacy for the next committee. */
const candidacySlot = 3
/** The number of recent blocks from which a block takes its parents. */
const recentBlocks = 32

/** Creates a builder; call `next` once per slot. */
export function createBlocks({ network, issuance }: LedgerSource, nowNs: () => bigint) {
  const random = createRandom(17)
  const any = <T>(list: readonly T[]): T =>
    present(list[random.between(0, list.length - 1)], 'one of them')
  let recent: BlockId[] = []
  let issuedNs = 0n

  /** Returns the next issuing time; no two blocks have the same. */
  function nextTime(): bigint {
    const now = nowNs()
    issuedNs = (now > issuedNs ? now : issuedNs) + 1n
    return issuedNs
  }

  function noted(block: Block, payload?: Payload): CheckedBlock {
    const checked = checkedOwnBlock(network, block)
    recent = [...recent.slice(1 - recentBlocks), checked.blockId]
    return payload?.type === 1 ? { ...checked, transaction: preparedHere(payload) } : checked
  }

  async function next(slot: SlotIndex): Promise<SlotBlocks> {
    const offered = await issuance()
    if (!offered.ok) throw new Error(offered.error.reason)
    const { latestCommitment, latestFinalizedSlot, strongParents } = offered.value
    const deps = { network, clock: { nowNs: nextTime } }
    const request = (payload: Payload | undefined) => {
      const picked = recent.length === 0 ? strongParents : [any(recent), any(recent), any(recent)]
      return {
        issuance: {
          ...offered.value,
          latestParentBlockIssuingTime: issuedNs,
          strongParents: [...new Set(picked)].sort(),
        },
        payload,
      }
    }
    const block = (payload: Payload, issuer = any(validators)) =>
      noted(buildBlock(deps, issuer, request(payload)), payload)
    const slotCommitmentId = commitmentId(latestCommitment)
    const header = {
      protocolVersion: network.parameters.version,
      networkId: network.id,
      issuingTime: issuedNs,
      slotCommitmentId,
      latestFinalizedSlot,
      issuerId: validators[0]?.accountId ?? any(validators).accountId,
    }
    return {
      moment: {
        offer: { network, header, strongParents },
        slot,
        commitmentId: slotCommitmentId,
        committed: latestCommitment.slot,
      },
      block: (payload) => block(payload),
      votes: () => {
        const votes = validators.map((one) => noted(buildVote(deps, one, request(undefined))))
        const isDue = slot % 2 ** network.parameters.slotsPerEpochExponent === candidacySlot
        return isDue ? [...votes, ...validators.map((one) => block({ type: 2 }, one))] : votes
      },
    }
  }

  return { next }
}

/** Skips the signature check, because this process has signed the transaction. */
function preparedHere(payload: SignedTransaction) {
  const identity = identifyTransaction(payload.transaction)
  return { payload, identity, isSignatureValid: () => true }
}
