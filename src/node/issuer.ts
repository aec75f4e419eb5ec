import type { Clock } from '../lib/clock.ts'
import { bytesToHex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { BasicBlockBody, Block, type BlockHeader, ValidationBlockBody } from '../protocol/block.ts'
import { commitmentId, identifyBlock } from '../protocol/ids.ts'
import type { Keypair } from '../protocol/keys.ts'
import type { Network } from '../protocol/network.ts'
import type { AccountId } from '../protocol/primitives.ts'
import { encode } from '../protocol/schema/schema.ts'
import { nodeWorkScore } from '../protocol/score.ts'
import { slotOfTime } from '../protocol/slots.ts'
import type { Payload } from '../protocol/transaction.ts'
import { Ed25519Signature } from '../protocol/unlocks.ts'
import type { Issuance, IssuerNotConfigured } from './source.ts'

/** Builds blocks of the node's own account: one per slot, which keeps parents recent, and blocks around payloads of clients. */

/** The account that the node issues blocks with. */
export interface IssuerAccount {
  readonly accountId: AccountId
  readonly key: Keypair
}

/** The network and the time that a block is built for. */
export interface BuildDeps {
  readonly clock: Clock
  readonly network: Network
}

export interface IssueDeps<E> extends BuildDeps {
  readonly issuer: IssuerAccount | undefined
  readonly issuance: () => Promise<Result<Issuance, E>>
}

/** Builds and signs a block around a payload with the node's own account. */
export async function issueBlock<E>(
  { issuer, issuance, ...deps }: IssueDeps<E>,
  payload: Payload | undefined,
): Promise<Result<Block, E | IssuerNotConfigured>> {
  if (issuer === undefined) return err({ code: 'ISSUER_NOT_CONFIGURED' })
  const offered = await issuance()
  if (!offered.ok) return offered
  return ok(buildBlock(deps, issuer, { issuance: offered.value, payload }))
}

/** The parents, the commitment and the payload of a block. */
export interface BuildRequest {
  readonly issuance: Issuance
  readonly payload: Payload | undefined
}

/** Builds and signs a block that may be issued now. Its `maxBurnedMana` is the cost of the block. */
export function buildBlock(deps: BuildDeps, account: IssuerAccount, request: BuildRequest): Block {
  const { parameters } = deps.network
  const { referenceManaCost } = request.issuance.latestCommitment
  const header = headerOf(deps, account, request.issuance)
  const body: BasicBlockBody = {
    type: BasicBlockBody.code,
    strongParents: request.issuance.strongParents,
    weakParents: [],
    shallowLikeParents: [],
    payload: request.payload,
    maxBurnedMana: 0n,
  }
  const draft: Block = { header, body, signature: noSignature }
  const maxBurnedMana = BigInt(nodeWorkScore(parameters, draft)) * referenceManaCost
  return sign(deps, account, { ...draft, body: { ...body, maxBurnedMana } })
}

/** Builds and signs a validation block. */
export function buildVote(deps: BuildDeps, account: IssuerAccount, request: BuildRequest): Block {
  const { parameters, parametersHash } = deps.network
  return sign(deps, account, {
    header: headerOf(deps, account, request.issuance),
    body: {
      type: ValidationBlockBody.code,
      strongParents: request.issuance.strongParents,
      weakParents: [],
      shallowLikeParents: [],
      highestSupportedVersion: parameters.version,
      protocolParametersHash: parametersHash,
    },
    signature: noSignature,
  })
}

const noSignature: Ed25519Signature = {
  type: Ed25519Signature.code,
  publicKey: bytesToHex(new Uint8Array(32)),
  signature: bytesToHex(new Uint8Array(64)),
}

/** A header whose issuing time is now, or just after the parents if that is later. */
function headerOf(
  { network, clock }: BuildDeps,
  { accountId }: IssuerAccount,
  issuance: Issuance,
): BlockHeader {
  const afterParents = issuance.latestParentBlockIssuingTime + 1n
  const now = clock.nowNs()
  return {
    protocolVersion: network.parameters.version,
    networkId: network.id,
    issuingTime: now > afterParents ? now : afterParents,
    slotCommitmentId: commitmentId(issuance.latestCommitment),
    latestFinalizedSlot: issuance.latestFinalizedSlot,
    issuerId: accountId,
  }
}

function sign({ network }: BuildDeps, { key }: IssuerAccount, block: Block): Block {
  const slot = slotOfTime(network.parameters, block.header.issuingTime)
  const { signingInput } = identifyBlock(encode(Block, block), slot)
  return { ...block, signature: key.sign(signingInput) }
}
