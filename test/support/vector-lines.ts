import type { Json } from '../../src/protocol/schema/schema.ts'
import { differences } from './differences.ts'
import { type FormVector, schemaByKind } from './vector-forms.ts'
import { parameterSets } from './vector-networks.ts'

/** Creates the input lines of `inspect` for a vector, and checks its output. */

/** A vector with all values that are computed from it. The README of the vectors describes its members. */
export interface InspectedVector extends Omit<FormVector, 'expect'> {
  readonly expect: FormVector['expect'] & { readonly parse?: string }
  readonly [member: string]: unknown
}

/** One input line, its parameter set, and the expected verdict. */
export interface VectorLine {
  readonly input: { readonly ref: string; readonly [member: string]: unknown }
  readonly set: string
  readonly verdict: string
}

/** The members that contain the input, by kind; all other kinds have `json` and `bytes`. */
const inputMembers: Readonly<Record<string, readonly string[]>> = {
  bech32: ['text'],
  signature: ['publicKey', 'message', 'signature'],
  slot: ['issuingTime'],
  'id-from-output-id': ['outputId'],
  'foundry-id': ['accountId', 'serialNumber', 'tokenSchemeType'],
  'public-key-hash': ['publicKey'],
  'network-id': ['networkName'],
  'merkle-root': ['leaves'],
  'output-id-proof': ['transaction'],
}

/** The input lines: one for each form and each parameter set or prefix for which the vector contains values. */
export function linesOf(vector: InspectedVector): readonly VectorLine[] {
  const { kind, expect } = vector
  const forms =
    kind in schemaByKind
      ? [
          { members: ['json'], verdict: expect.json },
          { members: ['bytes'], verdict: expect.binary },
        ]
      : [{ members: inputMembers[kind] ?? [], verdict: expect.parse }]
  return setsOf(vector).flatMap((set) =>
    forms
      .filter(({ members }) => members.every((member) => vector[member] !== undefined))
      .map(({ members, verdict = 'accept' }) => {
        const held = Object.fromEntries(members.map((member) => [member, vector[member]]))
        const ref = `${vector.name} ${set} ${members.join()}`
        return { input: { ref, kind, params: parametersOf(set), ...held }, set, verdict }
      }),
  )
}

/** Returns the errors in the output for a line. */
export function checkAnswer(
  vector: InspectedVector,
  line: VectorLine,
  answer: unknown,
): readonly string[] {
  const { ref } = line.input
  const given = Object(answer)
  if (given.ref !== ref) return [`${ref}: answered as ${given.ref}`]
  if (given.ok !== true) {
    const { code, path, message } = Object(given.error)
    const isNamed = [code, path, message].every((text) => typeof text === 'string')
    const isRight = line.verdict === 'reject' || line.verdict === 'either'
    return isRight && isNamed ? [] : [`${ref}: ${JSON.stringify(given)}`]
  }
  if (line.verdict === 'reject') return [`${ref}: accepted`]
  const wrong = Object.entries(expectedOf(vector, line)).flatMap(([member, expected]) =>
    differences(`${ref}: ${member}`, given[member], expected),
  )
  return wrong.concat(vector.kind === 'output-id-proof' ? checkProofs(vector, given.proofs) : [])
}

/** The members that describe the vector or are only input; they are not compared with the output. */
const notCompared = [
  'name',
  'kind',
  'params',
  'expect',
  'oracle',
  'source',
  'alsoIn',
  'given',
  'goBytes',
].concat(['bech32Go', 'publicKey', 'payloadBytes', 'encoded', 'normalised', 'proofs'])

/** The members of the expected output. */
function expectedOf(vector: InspectedVector, { set, verdict }: VectorLine): object {
  const members = Object.entries(vector)
    .filter(([member]) => !notCompared.includes(member))
    // A vector without bytes may have JSON in another form than the printed one.
    .filter(([member]) => member !== 'json' || vector.bytes !== undefined)
    .filter(([member]) => !inputMembers[vector.kind]?.includes(member))
    .map(([member, value]) => [member, perSet.has(member) ? Object(value)[set] : value])
  const expected = { ...Object.fromEntries(members), ...written(vector) }
  // The text of a multi address contains a reference, so the output has no address.
  return verdict === 'reference' ? { ...expected, address: undefined } : expected
}

/** Members that contain one value for each parameter set or prefix. */
const perSet: ReadonlySet<string> = new Set(['storageScore', 'minimumAmount', 'bech32'])

/** The expected bytes, if they differ from those of the vector. */
function written({ bytes, encoded, normalised }: InspectedVector): object {
  const other = normalised?.bytes ?? (bytes === undefined ? encoded : undefined)
  return other === undefined ? {} : { bytes: other }
}

/** Compares proofs. A vector contains the proofs of some outputs, the output of the command those of all. */
function checkProofs({ name, proofs }: InspectedVector, answer: unknown): readonly string[] {
  const given = new Map(Array.from(Object(answer), (proof) => [Object(proof).outputId, proof]))
  return Array.from(Object(proofs), Object).flatMap((proof) =>
    differences(`${name}: proof of ${proof.outputId}`, given.get(proof.outputId), proof),
  )
}

/** The names of the parameter sets, or the prefixes, of the input lines of a vector. */
function setsOf({ params, storageScore, bech32 }: InspectedVector): readonly string[] {
  if (params !== undefined) return [params]
  const sets = Object.keys(Object(storageScore ?? bech32))
  return sets.length === 0 ? ['standard'] : sets
}

function parametersOf(set: string): Json {
  const named = parameterSets.get(set === 'lifted' ? 'lifted/protocol-parameters' : set)
  return named ?? { ...Object(parameterSets.get('standard')), bech32Hrp: set }
}
