import { bytesToHex, type Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { SignatureCheckBusy } from '../node/signatures.ts'
import { Address } from '../protocol/addresses.ts'
import { type Bech32Error, decodeBech32, isMultiReference } from '../protocol/bech32.ts'
import { Block, maxBlockSize } from '../protocol/block.ts'
import { addressKey } from '../protocol/ids.ts'
import { Output } from '../protocol/outputs.ts'
import type { Problem } from '../protocol/problems.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { decode, decodeOrParse, encode, type Form, type Schema } from '../protocol/schema/schema.ts'
import { SignedTransaction } from '../protocol/transaction.ts'
import {
  type InspectDeps,
  type InspectedBlock,
  type InspectedTransaction,
  inspectBlock,
  inspectTransaction,
} from './inspect-block.ts'

/** Inspects a value of unknown kind: a block, a signed transaction, an output or an address. */

/** A value in its given form; an address may also be given as Bech32 text. */
export type AnyForm = Form | { readonly form: 'bech32'; readonly text: string }

export type Inspected = InspectedBlock | InspectedTransaction | InspectedOutput | InspectedAddress

/** An output, with its given bytes or the serialization of its JSON. */
export interface InspectedOutput {
  readonly output: Output
  readonly bytes: Uint8Array
}

/** An address. `address` is `undefined` for the text of a multi address, which has only the reference. */
export interface InspectedAddress {
  readonly addressKey: Hex
  readonly address: Address | undefined
}

/** Why a value cannot be read; `subject` is the kind as which it was read. */
export interface Unreadable {
  readonly error: Refusal | Problem | (Bech32Error & { readonly path: string })
  readonly subject: string
}

/** Inspects a value. Bytes are decoded as each possible kind; if all fail, the error is that of the kind that decodes furthest. */
export async function inspectAny(
  deps: InspectDeps,
  given: AnyForm,
): Promise<Result<Inspected, Unreadable | SignatureCheckBusy>> {
  if (given.form === 'bech32') return inspectText(given.text)
  const kind = given.form === 'bytes' ? kindOfBytes(given.bytes) : kindOfJson(given.json)
  return kind === 'block' ? await blockIn(deps, given) : await partIn(deps, kind, given)
}

type Kind = 'block' | 'signed transaction' | 'output' | 'address'

/** The kind of a JSON value, by members that only values of this kind have. */
function kindOfJson(json: unknown): Kind {
  const members: object = Object(json)
  if ('transaction' in members || 'unlocks' in members) return 'signed transaction'
  if ('amount' in members) return 'output'
  return 'header' in members || 'body' in members || !('type' in members) ? 'block' : 'address'
}

/** The kind of serialized bytes. Encodings are canonical, so bytes of one kind are rarely valid as another. */
function kindOfBytes(bytes: Uint8Array): Kind {
  const schemas: readonly (readonly [Kind, Schema<unknown>])[] = [
    ['block', Block],
    ['signed transaction', SignedTransaction],
    ['output', Output],
    ['address', Address],
  ]
  // No value is larger than the largest block.
  if (bytes.length > maxBlockSize) return 'block'
  let furthest: { readonly kind: Kind; readonly offset: number } = { kind: 'block', offset: -1 }
  for (const [kind, schema] of schemas) {
    const value = decode(schema, bytes)
    if (value.ok) return kind
    const { offset = 0 } = value.error
    if (offset > furthest.offset) furthest = { kind, offset }
  }
  return furthest.kind
}

async function blockIn(
  deps: InspectDeps,
  given: Form,
): Promise<Result<InspectedBlock, Unreadable | SignatureCheckBusy>> {
  const block = await inspectBlock(deps, given)
  if (block.ok) return block
  const { error } = block
  return err(error.code === 'SIGNATURE_CHECK_BUSY' ? error : { error, subject: 'the block' })
}

async function partIn(
  deps: InspectDeps,
  kind: Exclude<Kind, 'block'>,
  given: Form,
): Promise<Result<Inspected, Unreadable | SignatureCheckBusy>> {
  if (kind === 'address') {
    const address = read(Address, given, kind)
    return address.ok ? ok(inspectedAddress(address.value)) : address
  }
  if (kind === 'output') {
    const output = read(Output, given, kind)
    if (!output.ok) return output
    return ok({ output: output.value, bytes: encode(Output, output.value) })
  }
  const payload = read(SignedTransaction, given, kind)
  if (!payload.ok) return payload
  // No block can hold the transaction, so its signatures are not checked.
  if (encode(SignedTransaction, payload.value).length > maxBlockSize) {
    return unreadable({ code: 'BLOCK_SIZE', path: '' }, kind)
  }
  return await inspectTransaction(deps, payload.value)
}

function read<T>(schema: Schema<T>, given: Form, kind: Kind): Result<T, Unreadable> {
  const value = decodeOrParse(schema, given)
  return value.ok ? value : unreadable(value.error, kind)
}

function inspectText(text: string): Result<InspectedAddress, Unreadable> {
  const decoded = decodeBech32(text)
  if (!decoded.ok) return unreadable({ ...decoded.error, path: 'text' }, 'address')
  const { bytes } = decoded.value
  if (isMultiReference(bytes)) return ok({ addressKey: bytesToHex(bytes), address: undefined })
  const address = read(Address, { form: 'bytes', bytes }, 'address')
  return address.ok ? ok(inspectedAddress(address.value)) : address
}

function inspectedAddress(address: Address): InspectedAddress {
  return { addressKey: addressKey(address), address }
}

function unreadable(error: Unreadable['error'], kind: Kind) {
  return err({ error, subject: `the ${kind}` })
}
