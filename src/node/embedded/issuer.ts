import type { Clock } from '../../lib/clock.ts'
import { Block } from '../../protocol/block.ts'
import { commitmentId, identifyBlock } from '../../protocol/ids.ts'
import type { Keypair } from '../../protocol/keys.ts'
import type { Network } from '../../protocol/network.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { nodeWorkScore } from '../../protocol/score.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import type { Payload } from '../../protocol/transaction.ts'
import type { Issuance } from '../source.ts'

/** Blocks of the node's own account: one a slot, which keeps parents young, and those around payloads of clients. */

/** The account that the node issues blocks with. */
export interface IssuerAccount {
  readonly accountId: AccountId
  readonly key: Keypair
}

/** Builds and signs a block that may be issued now. */
export function buildBlock(
  deps: { readonly clock: Clock; readonly network: Network },
  account: IssuerAccount,
  request: { readonly issuance: Issuance; readonly payload: Payload | undefined },
): Block {
  const { network, clock } = deps
  const { issuance, payload } = request
  const afterParents = issuance.latestParentBlockIssuingTime + 1n
  const now = clock.nowNs()
  const draft: Block = {
    header: {
      protocolVersion: network.parameters.version,
      networkId: network.id,
      issuingTime: now > afterParents ? now : afterParents,
      slotCommitmentId: commitmentId(issuance.latestCommitment),
      latestFinalizedSlot: issuance.latestFinalizedSlot,
      issuerId: account.accountId,
    },
    body: {
      type: 0,
      strongParents: issuance.strongParents,
      weakParents: [],
      shallowLikeParents: [],
      payload,
      maxBurnedMana: 0n,
    },
    signature: account.key.sign(new Uint8Array()),
  }
  const price = BigInt(nodeWorkScore(network.parameters, draft))
  const maxBurnedMana = price * issuance.latestCommitment.referenceManaCost
  const unsigned: Block = {
    ...draft,
    body: { ...draft.body, type: 0, maxBurnedMana } as Block['body'],
  }
  const slot = slotOfTime(network.parameters, unsigned.header.issuingTime)
  const { signingInput } = identifyBlock(encode(Block, unsigned), slot)
  return { ...unsigned, signature: account.key.sign(signingInput) }
}
