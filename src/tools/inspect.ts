import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { Address, MultiAddress } from '../protocol/addresses.ts'
import { encodeBech32 } from '../protocol/bech32.ts'
import { maxBlockSize } from '../protocol/block.ts'
import { SlotCommitment } from '../protocol/commitment.ts'
import { addressKey, commitmentId, foundryId } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { type Network, networkOf, parseParameters } from '../protocol/network.ts'
import { FoundryOutput, Output } from '../protocol/outputs.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import { print } from '../protocol/schema/schema.ts'
import { minimumAmount, storageScore } from '../protocol/score.ts'
import { SignedTransaction } from '../protocol/transaction.ts'
import { below } from './input-members.ts'
import { type InspectDeps, inspectBlock, inspectTransaction } from './inspect-block.ts'
import { type InspectError, printError } from './inspect-errors.ts'
import {
  inspectFoundryId,
  inspectLeaves,
  inspectNetworkName,
  inspectOutputId,
  inspectPublicKey,
  inspectSignature,
  inspectText,
  inspectTime,
} from './inspect-identifiers.ts'
import {
  type Input,
  type InspectResult,
  inspectValue,
  readForm,
  readValue,
} from './inspect-input.ts'
import { inspectProofs } from './inspect-proofs.ts'
import { printBlock, printTransaction } from './print-inspection.ts'
import { ofKind, readLine, refOf } from './read-line.ts'

/** Inspects values, one line of JSON per value: returns their other forms, identifiers, scores and verdicts. */

/** Inspects one line of input. Every input, even a malformed one, results in one line of output. */
export async function inspectLine(deps: InspectDeps, line: string): Promise<string> {
  const input = readLine(line)
  if (!input.ok) return answerLine(null, 'line', input)
  const { kind } = input.value
  return answerLine(
    refOf(input.value),
    typeof kind === 'string' ? `the ${kind}` : 'the value',
    await inspect(deps, input.value),
  )
}

type Inspector = (deps: InspectDeps, input: Input) => InspectResult | Promise<InspectResult>

/** Returns the facts about the value of an input, with the network parameters of the input. */
export async function inspect(deps: InspectDeps, input: Input): Promise<InspectResult> {
  const inspector = ofKind(inspectors, input.kind)
  if (!inspector.ok) return inspector
  const network = readNetwork(deps.network, input.params)
  return network.ok ? inspector.value({ ...deps, network: network.value }, input) : network
}

const inspectors: ReadonlyMap<string, Inspector> = new Map<string, Inspector>([
  ['block', inspectBlockInput],
  ['output', inspectOutput],
  ['address', inspectAddress],
  ['protocol-parameters', inspectParameters],
  ['slot-commitment', inspectCommitment],
  ['signed-transaction-payload', inspectPayload],
  ['output-id-proof', (_deps, input) => inspectProofs(input)],
  ['bech32', inspectText],
  ['signature', inspectSignature],
  ['slot', inspectTime],
  ['id-from-output-id', inspectOutputId],
  ['foundry-id', inspectFoundryId],
  ['public-key-hash', inspectPublicKey],
  ['network-id', inspectNetworkName],
  ['merkle-root', inspectLeaves],
])

async function inspectBlockInput(deps: InspectDeps, input: Input): Promise<InspectResult> {
  const given = readForm(input)
  if (!given.ok) return given
  const inspected = await inspectBlock(deps, given.value)
  if (!inspected.ok) return inspected
  const { problems } = inspected.value
  // A rule that nodes and the SDK share takes precedence over a rule of the SDK alone.
  const broken =
    problems.find((problem) => problem.of === 'form') ??
    problems.find((problem) => problem.of === 'sdk')
  return broken === undefined ? ok(printBlock(inspected.value)) : err(broken)
}

function inspectOutput({ network: { parameters } }: InspectDeps, input: Input): InspectResult {
  const prices = parameters.storageScoreParameters
  return inspectValue(Output, input, (output) => {
    const foundry = is(FoundryOutput, output) ? foundryId(output) : undefined
    return {
      storageScore: storageScore(prices, output).toString(),
      minimumAmount: minimumAmount(prices, output).toString(),
      ...(foundry === undefined ? {} : { foundryId: foundry }),
    }
  })
}

function inspectAddress({ network: { parameters } }: InspectDeps, input: Input): InspectResult {
  return inspectValue(Address, input, (address) => {
    const key = addressKey(address)
    const bech32 = encodeBech32(parameters.bech32Hrp, hexToBytes(key))
    return { bech32, ...(is(MultiAddress, address) ? { reference: key } : {}) }
  })
}

function inspectParameters(_deps: InspectDeps, input: Input): InspectResult {
  return inspectValue(ProtocolParameters, input, (parameters) => {
    const { id, parametersHash } = networkOf(parameters)
    return { hash: parametersHash, networkId: id.toString() }
  })
}

function inspectCommitment(_deps: InspectDeps, input: Input): InspectResult {
  return inspectValue(SlotCommitment, input, (commitment) => ({
    commitmentId: commitmentId(commitment),
  }))
}

async function inspectPayload(deps: InspectDeps, input: Input): Promise<InspectResult> {
  const read = readValue(SignedTransaction, input)
  if (!read.ok) return read
  const { value, bytes } = read.value
  // No block can hold the transaction, so its signatures are not checked.
  if (bytes.length > maxBlockSize) return err({ code: 'BLOCK_SIZE', path: '' })
  const inspected = await inspectTransaction(deps, value)
  if (!inspected.ok) return inspected
  return ok({
    json: print(SignedTransaction, value),
    bytes: bytesToHex(bytes),
    ...printTransaction(inspected.value),
  })
}

function readNetwork(defaultNetwork: Network, json: unknown): Result<Network, InspectError> {
  if (json === undefined || json === null) return ok(defaultNetwork)
  const parameters = parseParameters(json)
  return parameters.ok ? ok(networkOf(parameters.value)) : err(below(parameters.error, 'params'))
}

function answerLine(ref: unknown, subject: string, answer: InspectResult): string {
  if (answer.ok) return JSON.stringify({ ref, ok: true, ...answer.value })
  return JSON.stringify({ ref, ok: false, error: printError(answer.error, subject) })
}
