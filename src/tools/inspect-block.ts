import type { Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { SignatureCheckBusy, SignatureChecker } from '../node/signatures.ts'
import type { SignedMessage } from '../node/signed-message.ts'
import { BasicBlockBody, Block, maxBlockSize } from '../protocol/block.ts'
import {
  type BlockIdentity,
  chainIdOf,
  identifyBlock,
  identifyTransaction,
  outputId,
  type TransactionIdentity,
} from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import type { Network } from '../protocol/network.ts'
import {
  AccountOutput,
  AnchorOutput,
  DelegationOutput,
  isZero,
  NftOutput,
  type Output,
} from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { BlockFacts, Problem } from '../protocol/problems.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { decode, encode, type Form, parse } from '../protocol/schema/schema.ts'
import { workScore } from '../protocol/score.ts'
import { sdkProblems } from '../protocol/sdk-rules.ts'
import { slotOfTime } from '../protocol/slots.ts'
import { blockProblems, withOffsets } from '../protocol/syntax.ts'
import { SignedTransaction } from '../protocol/transaction.ts'
import { MultiUnlock, SignatureUnlock, type Unlock } from '../protocol/unlocks.ts'

/** Inspects blocks and transactions without a ledger. */

export interface InspectDeps {
  readonly checker: Pick<SignatureChecker, 'check'>
  /** The network whose parameters apply. */
  readonly network: Network
}

/** The facts about a block. */
export interface InspectedBlock {
  readonly given: Form
  readonly block: Block
  /** The given bytes, or the serialization of the JSON. */
  readonly bytes: Uint8Array
  readonly slot: SlotIndex
  readonly identity: BlockIdentity
  readonly workScore: number
  readonly isSignatureValid: boolean
  /** The transaction in the block; `undefined` if the block has none. */
  readonly transaction: InspectedTransaction | undefined
  /** All broken rules. A block that breaks only rules of the node is well formed for the official SDK. */
  readonly problems: readonly Problem[]
}

/** The facts about a signed transaction. */
export interface InspectedTransaction {
  readonly payload: SignedTransaction
  readonly identity: TransactionIdentity
  readonly outputIds: readonly OutputId[]
  /** Ids of new accounts, anchors, NFTs and delegations, by output index. */
  readonly createdChainIds: ReadonlyMap<number, Hex>
  /** Validity of each signature, in order, including signatures inside multi unlocks. */
  readonly areSignaturesValid: readonly boolean[]
}

/** Inspects a block. Fails only if the block cannot be read, or if too many doubtful signatures wait for their check. */
export async function inspectBlock(
  deps: InspectDeps,
  given: Form,
): Promise<Result<InspectedBlock, Refusal | SignatureCheckBusy>> {
  const read = readBlock(given)
  if (!read.ok) return read
  const block = read.value
  const bytes = given.form === 'bytes' ? given.bytes : encode(Block, block)
  // JSON can respect every count limit and still be far too long, with a thousand signatures to check.
  if (bytes.length > maxBlockSize) return err({ code: 'BLOCK_SIZE', path: '' })
  const slot = slotOfTime(deps.network.parameters, block.header.issuingTime)
  const identity = identifyBlock(bytes, slot)
  const { publicKey, signature } = block.signature
  const verdicts = await checkEach(deps, [{ publicKey, signature, message: identity.signingInput }])
  if (!verdicts.ok) return verdicts
  const payload = is(BasicBlockBody, block.body) ? block.body.payload : undefined
  const transaction = is(SignedTransaction, payload)
    ? await inspectTransaction(deps, payload)
    : ok(undefined)
  if (!transaction.ok) return transaction
  return ok({
    given,
    block,
    bytes,
    slot,
    identity,
    workScore: workScore(deps.network.parameters, block),
    isSignatureValid: verdicts.value[0] === true,
    transaction: transaction.value,
    problems: problemsOf(deps, block, { bytes, from: given.form }),
  })
}

/** Broken rules of the whole block, then broken rules of single parts that only the official SDK has. */
function problemsOf(
  { network }: InspectDeps,
  block: Block,
  { bytes, from }: Pick<BlockFacts, 'bytes' | 'from'>,
): readonly Problem[] {
  const whole = blockProblems(block, { network, bytes, from })
  const nameOf = ({ code, path }: Problem) => `${code} ${path}`
  const known = new Set(whole.map(nameOf))
  const parts = sdkProblems(Block, block).filter((problem) => !known.has(nameOf(problem)))
  const problems = [...whole, ...parts]
  return from === 'json' ? problems : withOffsets(problems, bytes)
}

export async function inspectTransaction(
  deps: Pick<InspectDeps, 'checker'>,
  payload: SignedTransaction,
): Promise<Result<InspectedTransaction, SignatureCheckBusy>> {
  const identity = identifyTransaction(payload.transaction)
  const { outputs } = payload.transaction
  const outputIds = outputs.map((_, index) => outputId(identity.transactionId, index))
  const verdicts = await checkEach(deps, signedMessages(payload.unlocks, identity.signingHash))
  if (!verdicts.ok) return verdicts
  const created = [...outputIds.entries()].filter(([index]) => createsChain(outputs[index]))
  return ok({
    payload,
    identity,
    outputIds,
    createdChainIds: new Map(created.map(([index, id]) => [index, chainIdOf(id)])),
    areSignaturesValid: verdicts.value,
  })
}

function readBlock(given: Form): Result<Block, Refusal> {
  if (given.form === 'json') return parse(Block, given.json)
  // Larger bytes cannot be a block, so they are not decoded.
  if (given.bytes.length > maxBlockSize) {
    return err({ code: 'BLOCK_SIZE', path: '', offset: maxBlockSize })
  }
  return decode(Block, given.bytes)
}

/** Checks each signature separately: a joint check reports all signatures after the first invalid one as invalid. */
async function checkEach(
  { checker }: Pick<InspectDeps, 'checker'>,
  items: readonly SignedMessage[],
): Promise<Result<readonly boolean[], SignatureCheckBusy>> {
  const verdicts: boolean[] = []
  for (const item of items) {
    const verdict = await checker.check([item])
    if (!verdict.ok) return verdict
    verdicts.push(verdict.value[0] === true)
  }
  return ok(verdicts)
}

function signedMessages(unlocks: readonly Unlock[], message: Uint8Array): SignedMessage[] {
  return unlocks.flatMap((unlock) => {
    if (is(MultiUnlock, unlock)) return signedMessages(unlock.unlocks, message)
    if (!is(SignatureUnlock, unlock)) return []
    const { publicKey, signature } = unlock.signature
    return [{ publicKey, signature, message }]
  })
}

function createsChain(output: Output | undefined): boolean {
  if (is(AccountOutput, output)) return isZero(output.accountId)
  if (is(AnchorOutput, output)) return isZero(output.anchorId)
  if (is(NftOutput, output)) return isZero(output.nftId)
  return is(DelegationOutput, output) && isZero(output.delegationId)
}
