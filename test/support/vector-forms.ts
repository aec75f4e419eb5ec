import { bytesToHex, type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { Address } from '../../src/protocol/addresses.ts'
import { Block } from '../../src/protocol/block.ts'
import { SlotCommitment } from '../../src/protocol/commitment.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { locate } from '../../src/protocol/schema/offset.ts'
import type { Refusal } from '../../src/protocol/schema/refusal.ts'
import {
  decode,
  encode,
  type Json,
  parse,
  print,
  type Schema,
} from '../../src/protocol/schema/schema.ts'
import { sdkProblems } from '../../src/protocol/sdk-rules.ts'
import { blockProblems, withOffsets } from '../../src/protocol/syntax.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import { differences } from './differences.ts'
import { vectorNetworks } from './vector-networks.ts'
import type { Vector } from './vectors.ts'

/** Checks the JSON and the bytes of a vector against its verdict. All accepted forms of a value must be equal. */

/** The number of vectors with a form in each file, by kind, so that a test notices a skipped vector. */
export const formVectorCounts = {
  params: { 'protocol-parameters': 5 },
  addresses: { address: 64 },
  outputs: { output: 191 },
  blocks: { block: 46 },
  transactions: { block: 85 },
  rules: { block: 390 },
  'json-forms': { block: 195 },
  mutations: { block: 200 },
} as const

/** The number of vectors with a form in the file `lifted`, by kind. */
export const liftedFormCounts = {
  'protocol-parameters': 1,
  block: 11,
  output: 9,
  'slot-commitment': 2,
  'signed-transaction-payload': 2,
  address: 21,
} as const

/** The verdict on one form. */
export type Verdict = 'accept' | 'reject' | 'either'

/** A vector that has a form. The README of the vectors describes its members. */
export interface FormVector extends Vector {
  readonly kind: string
  readonly json?: Json
  readonly bytes?: Hex
  readonly encoded?: Hex
  readonly normalised?: { readonly bytes: Hex }
  readonly size?: number
  readonly expect: {
    readonly json?: Verdict
    readonly binary?: Verdict
    readonly rule?: string
  }
}

/** The schemas of the kinds that have forms. */
export const schemaByKind: Readonly<Record<string, Schema<unknown>>> = {
  block: Block,
  output: Output,
  address: Address,
  'protocol-parameters': ProtocolParameters,
  'slot-commitment': SlotCommitment,
  'signed-transaction-payload': SignedTransaction,
}

/** Returns the errors in the results for a vector. */
export function checkForms(vector: FormVector): readonly string[] {
  const { json, bytes } = vector
  return [
    ...(json === undefined ? [] : checkForm(vector, 'json')),
    ...(bytes === undefined ? [] : checkForm(vector, 'bytes')),
    ...(json === undefined && bytes === undefined ? ['has no form'] : []),
  ]
}

function checkForm(vector: FormVector, from: 'json' | 'bytes'): readonly string[] {
  const wanted = (from === 'json' ? vector.expect.json : vector.expect.binary) ?? 'accept'
  const answer = answerTo(vector, from)
  if (!answer.ok) {
    const wrong = wanted === 'accept' ? [`${from} refused: ${JSON.stringify(answer.refusal)}`] : []
    return [...wrong, ...checkRefusal(vector, from, answer.refusal)]
  }
  if (wanted === 'reject') return [`${from} accepted`]
  const { json, bytes, encoded, normalised, size } = vector
  const writtenBytes = normalised?.bytes ?? bytes ?? encoded
  // A vector without bytes may have JSON in another form than the printed one.
  const writtenJson = bytes === undefined ? undefined : json
  return [
    ...(writtenBytes === undefined
      ? []
      : differences(`${from} as bytes`, bytesToHex(answer.bytes), writtenBytes)),
    ...(writtenJson === undefined ? [] : differences(`${from} as JSON`, answer.json, writtenJson)),
    ...(size === undefined ? [] : differences('size', answer.bytes.length, size)),
  ]
}

type Answer =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly json: Json }
  | { readonly ok: false; readonly refusal: Refusal }

/** Reads one form of a vector, checks the value, and writes it in both forms. */
function answerTo(vector: FormVector, from: 'json' | 'bytes'): Answer {
  const schema = schemaByKind[vector.kind]
  if (schema === undefined) throw new Error(`no schema for ${vector.kind}`)
  const value =
    from === 'json' ? parse(schema, vector.json) : decode(schema, hexToBytes(vector.bytes ?? '0x'))
  if (!value.ok) return { ok: false, refusal: value.error }
  const bytes = encode(schema, value.value)
  const whole =
    vector.kind === 'block' ? sharedProblems(vector, value.value as Block, bytes, from) : []
  const [problem] = [...whole, ...partProblems(schema, value.value, bytes, from)]
  if (problem !== undefined) return { ok: false, refusal: problem }
  return { ok: true, bytes, json: print(schema, value.value) }
}

/** The problems of a block by the rules of the official SDK, which the vectors follow even if nodes accept the block. */
function sharedProblems(
  vector: FormVector,
  block: Block,
  bytes: Uint8Array,
  from: 'json' | 'bytes',
): readonly Refusal[] {
  const network = vectorNetworks.get(vector.params ?? '')
  if (network === undefined) throw new Error(`no parameters ${vector.params}`)
  const problems = blockProblems(block, { network, bytes, from })
  const placed = from === 'json' ? problems : withOffsets(problems, bytes)
  return placed.filter((problem) => problem.of !== 'node')
}

function partProblems(
  schema: Schema<unknown>,
  value: unknown,
  bytes: Uint8Array,
  from: 'json' | 'bytes',
): readonly Refusal[] {
  const problems = sdkProblems(schema, value)
  if (from === 'json') return problems
  return problems.map((problem) => ({ ...problem, offset: locate(schema, bytes, problem.path) }))
}

/** An error must name the violated rule and, for bytes, an offset within them. */
function checkRefusal(
  vector: FormVector,
  from: 'json' | 'bytes',
  refusal: Refusal,
): readonly string[] {
  const { code, offset } = refusal
  const size = ((vector.bytes?.length ?? 2) - 2) / 2
  const isPlaced = offset !== undefined && offset >= 0 && offset <= size
  return [
    ...(from === 'bytes' && !isPlaced ? [`offset ${offset} of ${code}`] : []),
    ...(from === 'json' && offset !== undefined ? [`offset ${offset} of JSON`] : []),
    ...(isRuleOf(vector, from, code) ? [] : [`${from} breaks ${code}, not ${vector.expect.rule}`]),
  ]
}

/** Vectors that violate two rules, with the rule that the gateway names. */
const otherRules: ReadonlyMap<string, string> = new Map([
  ['json/missing/body.type', 'JSON_MISSING'],
  ['json/missing/body.payload.type', 'JSON_MISSING'],
  ['json/missing/signature.type', 'JSON_MISSING'],
  ['json/missing/output-0.type', 'JSON_MISSING'],
  // Transactions in the released numbering with a single member in the documented one.
  ['json/documented/commitment-input-as-1', 'NUMBERING_MIXED'],
  ['json/documented/block-issuance-credit-as-2', 'NUMBERING_MIXED'],
  ['json/documented/reward-as-3', 'NUMBERING_MIXED'],
  // This wrong length has its own error code.
  ['json/hex/transaction-id-32-bytes', 'TRANSACTION_ID_WITHOUT_SLOT'],
])

/** As `otherRules`, for bytes. The length of a key of 256 bytes is encoded as 0, so the key is empty and the next bytes are no entry. */
const otherRulesOfBytes: ReadonlyMap<string, string> = new Map([
  ['rule/transaction/output/feature-metadata-key-256', 'BIN_EOF'],
])

function isRuleOf(
  { name, expect: { rule } }: FormVector,
  from: 'json' | 'bytes',
  code: string,
): boolean {
  // A random mutation violates several rules, and the order in which they are reported is unspecified.
  if (name.startsWith('mutation/') || rule === undefined) return true
  const other = from === 'bytes' ? otherRulesOfBytes.get(name) : undefined
  return code === (other ?? otherRules.get(name) ?? rule.replace(/[.-]/g, '_').toUpperCase())
}
