import { BasicBlockBody, Block, maxBlockSize } from './block.ts'
import { slotOfId } from './ids.ts'
import { CommitmentInput } from './inputs.ts'
import { is } from './is.ts'
import { isIdOf, type Network } from './network.ts'
import type { SlotIndex } from './primitives.ts'
import { type BlockFacts, below, type Problem, type Report } from './problems.ts'
import { fieldsOf } from './schema/fields.ts'
import { slotOfTime } from './slots.ts'
import { SignedTransaction } from './transaction.ts'
import { checkTransaction, checkUnlocks } from './transaction-syntax.ts'

/** The rules that need a whole block and its network, but no ledger (codec reference 18.1 to 18.5). */

/** All broken rules of a decoded block, in the order of the reference; empty if the block is well formed. */
export function blockProblems(block: Block, facts: BlockFacts): readonly Problem[] {
  const { report, problems } = createReport()
  if (facts.bytes.length > maxBlockSize) report.form('BLOCK_SIZE')
  checkHeader(block, facts.network, report)
  checkBody(block, facts.network, report)
  if (is(BasicBlockBody, block.body) && is(SignedTransaction, block.body.payload)) {
    const slot = slotOfTime(facts.network.parameters, block.header.issuingTime)
    const { transaction, unlocks } = block.body.payload
    checkCommitmentInput(block, slot, facts.network, report)
    const inner = below(report, 'body', 'payload')
    checkTransaction(transaction, facts, below(inner, 'transaction'))
    checkUnlocks(unlocks, transaction.inputs.length, inner)
  }
  return problems
}

/** Adds their offsets to problems of a block that was received as bytes. Linear in the bytes: a block may have 2,000 problems. */
export function withOffsets(problems: readonly Problem[], bytes: Uint8Array): readonly Problem[] {
  if (problems.length === 0) return problems
  const offsets = new Map(fieldsOf(Block, bytes).map(({ path, offset }) => [path, offset]))
  const offsetOf = (path: string): number =>
    // A part that is absent is at the place of the innermost part that is there.
    offsets.get(path) ?? offsetOf(path.slice(0, Math.max(path.lastIndexOf('.'), 0)))
  return problems.map((problem) => ({ ...problem, offset: offsetOf(problem.path) }))
}

/** All broken rules of a signed transaction alone, without the rules between a transaction and its block. */
export function transactionProblems(
  { transaction, unlocks }: SignedTransaction,
  network: Network,
): readonly Problem[] {
  const { report, problems } = createReport()
  const facts: BlockFacts = { network, bytes: new Uint8Array(0), from: 'bytes' }
  checkTransaction(transaction, facts, below(report, 'transaction'))
  checkUnlocks(unlocks, transaction.inputs.length, report)
  return problems
}

function createReport(): { readonly report: Report; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const report: Report = {
    form: (code, ...path) => problems.push({ code, path: path.join('.'), of: 'form' }),
    node: (code, ...path) => problems.push({ code, path: path.join('.'), of: 'node' }),
    sdk: (code, ...path) => problems.push({ code, path: path.join('.'), of: 'sdk' }),
  }
  return { report, problems }
}

function checkHeader(block: Block, network: Network, report: Report): void {
  const { header } = block
  const { parameters } = network
  if (header.protocolVersion !== parameters.version)
    report.form('HEADER_VERSION', 'header', 'protocolVersion')
  if (!isIdOf(network, header.networkId)) report.form('HEADER_NETWORK_ID', 'header', 'networkId')
  const slot = slotOfTime(parameters, header.issuingTime)
  const committed = slotOfId(header.slotCommitmentId)
  if (committed > parameters.genesisSlot && slot < committed + parameters.minCommittableAge) {
    report.node('HEADER_COMMITMENT_TOO_RECENT', 'header', 'slotCommitmentId')
  }
  if (slot > committed + parameters.maxCommittableAge) {
    report.node('HEADER_COMMITMENT_TOO_OLD', 'header', 'slotCommitmentId')
  }
}

function checkBody(block: Block, network: Network, report: Report): void {
  const { body, header } = block
  const others = new Set([...body.strongParents, ...body.shallowLikeParents])
  body.weakParents.forEach((parent, i) => {
    if (others.has(parent)) report.form('PARENTS_WEAK_DISJOINT', 'body', 'weakParents', i)
  })
  if (is(BasicBlockBody, body)) return
  if (body.highestSupportedVersion < header.protocolVersion) {
    report.node('VALIDATION_HIGHEST_VERSION', 'body', 'highestSupportedVersion')
  }
  if (body.protocolParametersHash !== network.parametersHash) {
    report.sdk('VALIDATION_PARAMS_HASH', 'body', 'protocolParametersHash')
  }
}

/** Checks the rules between a transaction and its block. */
function checkCommitmentInput(
  block: Block,
  slot: SlotIndex,
  network: Network,
  report: Report,
): void {
  if (!is(BasicBlockBody, block.body) || !is(SignedTransaction, block.body.payload)) return
  const { transaction } = block.body.payload
  const inner = below(report, 'body', 'payload', 'transaction')
  if (transaction.creationSlot > slot) inner.form('BLOCK_TX_CREATION_SLOT', 'creationSlot')
  const [input] = transaction.contextInputs
  if (!is(CommitmentInput, input)) return
  const { minCommittableAge, maxCommittableAge } = network.parameters
  const committed = slotOfId(input.commitmentId)
  const place = ['contextInputs', 0, 'commitmentId'] as const
  const tooRecent = committed !== 0 && committed > slot - minCommittableAge
  if (tooRecent || committed < slot - maxCommittableAge) {
    inner.form('BLOCK_TX_COMMITMENT_RANGE', ...place)
  }
  if (committed > slotOfId(block.header.slotCommitmentId)) {
    inner.form('BLOCK_TX_COMMITMENT_NEWER', ...place)
  }
}
