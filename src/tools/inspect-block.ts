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
import { locate } from '../protocol/schema/offset.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { decode, encode, parse } from '../protocol/schema/schema.ts'
import { workScore } from '../protocol/score.ts'
import { sdkProblems } from '../protocol/sdk-rules.ts'
import { slotOfTime } from '../protocol/slots.ts'
import { blockProblems } from '../protocol/syntax.ts'
import { SignedTransaction } from '../protocol/transaction.ts'
import { MultiUnlock, SignatureUnlock, type Unlock } from '../protocol/unlocks.ts'

/** Everything that follows from a block alone, without a ledger. */

/** What inspecting needs. */
export interface InspectDeps {
  readonly checker: Pick<SignatureChecker, 'check'>
  /** The network that a value is read for. */
  readonly network: Network
}

/** A value as it is given. */
export type Form =
  | { readonly form: 'json'; readonly json: unknown }
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }

/** What a block is. */
export interface InspectedBlock {
  readonly given: Form
  readonly block: Block
  /** As they came, or as the JSON serializes. */
  readonly bytes: Uint8Array
  readonly slot: SlotIndex
  readonly identity: BlockIdentity
  readonly workScore: number
  readonly isSignatureValid: boolean
  /** Of a block that carries a transaction. */
  readonly transaction: InspectedTransaction | undefined
  /** Every broken rule; a block that breaks only those of the node alone is well formed for the official SDK. */
  readonly problems: readonly Problem[]
}

/** What a signed transaction is. */
export interface InspectedTransaction {
  readonly payload: SignedTransaction
  readonly identity: TransactionIdentity
  readonly outputIds: readonly OutputId[]
  /** By output index, the id that a new account, anchor, NFT or delegation gets. */
  readonly createdChainIds: ReadonlyMap<number, Hex>
  /** One verdict a signature, in order, those inside multi unlocks too. */
  readonly areSignaturesValid: readonly boolean[]
}

/** Inspects a block. It fails only when the block cannot be read, or too many doubtful signatures wait. */
export async function inspectBlock(
  deps: InspectDeps,
  given: Form,
): Promise<Result<InspectedBlock, Refusal | SignatureCheckBusy>> {
  const read = readBlock(given)
  if (!read.ok) return read
  const block = read.value
  const bytes = given.form === 'bytes' ? given.bytes : encode(Block, block)
  // JSON may keep to every count and still be far too long, with a thousand signatures to check.
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

/** The rules of whole blocks, then those of single parts that only the official SDK has. */
function problemsOf(
  { network }: InspectDeps,
  block: Block,
  { bytes, from }: Pick<BlockFacts, 'bytes' | 'from'>,
): readonly Problem[] {
  const whole = blockProblems(block, { network, bytes, from })
  const isKnown = ({ code, path }: Problem) =>
    whole.some((other) => other.code === code && other.path === path)
  const parts = sdkProblems(Block, block).filter((problem) => !isKnown(problem))
  if (from === 'json') return [...whole, ...parts]
  const placed = parts.map((one) => ({ ...one, offset: locate(Block, bytes, one.path) }))
  return [...whole, ...placed]
}

/** Inspects a signed transaction. */
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
  // Larger ones are no block whatever they hold, and need not be read.
  if (given.bytes.length > maxBlockSize) {
    return err({ code: 'BLOCK_SIZE', path: '', offset: maxBlockSize })
  }
  return decode(Block, given.bytes)
}

/** Each by itself: asked together, all after the first wrong one would count as wrong. */
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
