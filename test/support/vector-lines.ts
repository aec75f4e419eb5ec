import type { Json } from '../../src/protocol/schema/schema.ts'
import { differences } from './differences.ts'
import { type FormVector, schemaByKind } from './vector-forms.ts'
import { parameterSets } from './vector-networks.ts'

/** Makes the lines that ask `inspect` about a vector, and checks its answers. */

/** A vector with everything that is computed from it; members as the vectors' README says. */
export interface InspectedVector extends Omit<FormVector, 'expect'> {
  readonly expect: FormVector['expect'] & { readonly parse?: string }
  readonly [member: string]: unknown
}

/** One question, the parameter set it is asked for, and the verdict that is right. */
export interface VectorLine {
  readonly input: { readonly ref: string; readonly [member: string]: unknown }
  readonly set: string
  readonly verdict: string
}

/** The members that hold the value, by kind; all other kinds have `json` and `bytes`. */
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

/** The questions: for each form, and for each parameter set or prefix that the vector holds values for. */
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

/** What is wrong with the answer to a line; nothing when all is right. */
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

/** What a vector tells about itself and nothing is to be compared with, and what is an input alone. */
const untold = [
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

/** The members of the right answer. */
function expectedOf(vector: InspectedVector, { set, verdict }: VectorLine): object {
  const members = Object.entries(vector)
    .filter(([member]) => !untold.includes(member))
    // Without bytes the JSON may be in another form than the one that is written.
    .filter(([member]) => member !== 'json' || vector.bytes !== undefined)
    .filter(([member]) => !inputMembers[vector.kind]?.includes(member))
    .map(([member, value]) => [member, perSet.has(member) ? Object(value)[set] : value])
  const expected = { ...Object.fromEntries(members), ...written(vector) }
  // Of a multi address the text holds a reference, and the answer no address.
  return verdict === 'reference' ? { ...expected, address: undefined } : expected
}

/** Members that hold one value for each parameter set or prefix. */
const perSet: ReadonlySet<string> = new Set(['storageScore', 'minimumAmount', 'bech32'])

/** Where the forms of the answer are others than those of the vector. */
function written({ bytes, encoded, normalised }: InspectedVector): object {
  const other = normalised?.bytes ?? (bytes === undefined ? encoded : undefined)
  return other === undefined ? {} : { bytes: other }
}

/** A vector holds the proofs of some outputs, the answer those of all. */
function checkProofs({ name, proofs }: InspectedVector, answer: unknown): readonly string[] {
  const given = new Map(Array.from(Object(answer), (proof) => [Object(proof).outputId, proof]))
  return Array.from(Object(proofs), Object).flatMap((proof) =>
    differences(`${name}: proof of ${proof.outputId}`, given.get(proof.outputId), proof),
  )
}

/** The names of the parameter sets, or the prefixes, that a vector is asked with. */
function setsOf({ params, storageScore, bech32 }: InspectedVector): readonly string[] {
  if (params !== undefined) return [params]
  const sets = Object.keys(Object(storageScore ?? bech32))
  return sets.length === 0 ? ['standard'] : sets
}

function parametersOf(set: string): Json {
  const named = parameterSets.get(set === 'lifted' ? 'lifted/protocol-parameters' : set)
  return named ?? { ...Object(parameterSets.get('standard')), bech32Hrp: set }
}
