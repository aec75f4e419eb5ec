import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import { err, ok } from '../lib/result.ts'
import { Address } from '../protocol/addresses.ts'
import { decodeBech32, isMultiReference } from '../protocol/bech32.ts'
import {
  chainIdOf,
  foundryIdFrom,
  indexOf,
  networkId,
  publicKeyHash,
  slotOfId,
  transactionOf,
} from '../protocol/ids.ts'
import { merkleRoot } from '../protocol/merkle.ts'
import {
  AccountId,
  OutputId,
  PublicKey,
  SignatureBytes,
  u8,
  u32,
  u64,
} from '../protocol/primitives.ts'
import { struct } from '../protocol/schema/declare.ts'
import { text } from '../protocol/schema/scalars.ts'
import { decode, parse, print } from '../protocol/schema/schema.ts'
import { sdkProblems } from '../protocol/sdk-rules.ts'
import { epochOfSlot, slotOfTime } from '../protocol/slots.ts'
import { anyBytes, listOf } from './input-members.ts'
import type { InspectDeps } from './inspect-block.ts'
import type { Input, InspectResult } from './inspect-input.ts'

/** Inspections of single members: identifiers, hashes, signatures, slots and address texts. */

const SignatureInput = struct('SignatureInput', {
  publicKey: PublicKey,
  message: anyBytes,
  signature: SignatureBytes,
})

/** Checks a signature by the rules of ZIP-215. */
export async function inspectSignature(deps: InspectDeps, input: Input): Promise<InspectResult> {
  const given = parse(SignatureInput, input)
  if (!given.ok) return given
  const { publicKey, signature, message } = given.value
  const verdict = await deps.checker.check([{ publicKey, signature, message: hexToBytes(message) }])
  return verdict.ok ? ok({ valid: verdict.value[0] === true }) : verdict
}

const SlotInput = struct('SlotInput', { issuingTime: u64 })

/** Computes the slot and the epoch of a time. */
export function inspectTime({ network: { parameters } }: InspectDeps, input: Input): InspectResult {
  const given = parse(SlotInput, input)
  if (!given.ok) return given
  const slot = slotOfTime(parameters, given.value.issuingTime)
  return ok({ slot, epoch: epochOfSlot(parameters, slot) })
}

const OutputIdInput = struct('OutputIdInput', { outputId: OutputId })

/** Computes the parts of an output id, and the id of the account, anchor, NFT or delegation that the output may create. */
export function inspectOutputId(_deps: InspectDeps, input: Input): InspectResult {
  const given = parse(OutputIdInput, input)
  if (!given.ok) return given
  const { outputId } = given.value
  const transactionId = transactionOf(outputId)
  const parts = { transactionId, outputIndex: indexOf(outputId), slot: slotOfId(transactionId) }
  return ok({ ...parts, id: chainIdOf(outputId) })
}

const FoundryInput = struct('FoundryInput', {
  accountId: AccountId,
  serialNumber: u32,
  tokenSchemeType: u8,
})

export function inspectFoundryId(_deps: InspectDeps, input: Input): InspectResult {
  const given = parse(FoundryInput, input)
  if (!given.ok) return given
  const { accountId, serialNumber, tokenSchemeType } = given.value
  return ok({ foundryId: foundryIdFrom(accountId, serialNumber, tokenSchemeType) })
}

const PublicKeyInput = struct('PublicKeyInput', { publicKey: PublicKey })

/** Computes the hash of a public key, which identifies its Ed25519 address and its block issuer key. */
export function inspectPublicKey(_deps: InspectDeps, input: Input): InspectResult {
  const given = parse(PublicKeyInput, input)
  return given.ok ? ok({ hash: publicKeyHash(given.value.publicKey) }) : given
}

const NetworkInput = struct('NetworkInput', { networkName: text('NetworkName') })

/** Computes the id of a network. */
export function inspectNetworkName(_deps: InspectDeps, input: Input): InspectResult {
  const given = parse(NetworkInput, input)
  return given.ok ? ok({ networkId: networkId(given.value.networkName).toString() }) : given
}

const LeavesInput = struct('LeavesInput', { leaves: listOf(anyBytes) })

/** Computes the root of a Merkle tree. */
export function inspectLeaves(_deps: InspectDeps, input: Input): InspectResult {
  const given = parse(LeavesInput, input)
  return given.ok ? ok({ root: bytesToHex(merkleRoot(given.value.leaves.map(hexToBytes))) }) : given
}

/** Decodes the address in a Bech32 text; the text of a multi address has only its reference. */
export function inspectText(_deps: InspectDeps, { text }: Input): InspectResult {
  if (typeof text !== 'string') {
    return err({ code: 'INPUT_MISSING', path: 'text', expected: 'the Bech32 text of an address' })
  }
  const decoded = decodeBech32(text)
  if (!decoded.ok) return err({ ...decoded.error, path: 'text' })
  const { hrp, bytes: addressBytes } = decoded.value
  const hex = bytesToHex(addressBytes)
  if (isMultiReference(addressBytes)) return ok({ hrp, reference: hex })
  const address = decode(Address, addressBytes)
  if (!address.ok) return err({ code: address.error.code, path: 'text' })
  const [problem] = sdkProblems(Address, address.value)
  if (problem !== undefined) return err({ ...problem, path: 'text' })
  return ok({ hrp, bytes: hex, address: print(Address, address.value) })
}
