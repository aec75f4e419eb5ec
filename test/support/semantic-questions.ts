import { loadVectors, type Vector } from './vectors.ts'

/** The input lines of `verify` for the semantic vectors, and the correct output. */

/** A vector of any semantic file. Section 15 of the ledger reference describes its members. */
export interface SemanticVector extends Vector {
  readonly expected?: unknown
  readonly totals?: unknown
  readonly atSlot?: readonly { readonly slot: number }[]
  readonly related?: unknown
}

/** The number of vectors in each file, by the word in its name. */
export const semanticCounts = {
  tx: 787,
  syntax: 224,
  blocks: 72,
  mana: 266,
  scores: 112,
  roots: 49,
  accounts: 41,
  rewards: 27,
  genesis: 7,
  owners: 26,
} as const

/** The word in the name of a semantic file. */
export type SemanticKind = keyof typeof semanticCounts

const parametersByName = new Map(
  loadVectors<Vector & { readonly parameters: unknown }>('semantic-params').map((vector) => [
    vector.name,
    vector.parameters,
  ]),
)

/** The members with the result or its source, which are not part of the input. */
const answers = new Set([
  ...['name', 'kind', 'params', 'expected', 'oracles', 'agree', 'note', 'totals', 'sdkAnswer'],
  ...['transactionId', 'signingHash', 'blockId', 'size', 'manaCost', 'atSlot', 'related', 'rule'],
])

/** The input line of a vector. */
export function semanticLine(kind: SemanticKind, vector: SemanticVector): string {
  const input = Object.entries(vector).filter(([member]) => !answers.has(member))
  return JSON.stringify({
    ref: vector.name,
    kind,
    ...(vector.kind === undefined ? {} : { subkind: vector.kind }),
    ...(vector.params === undefined ? {} : { parameters: parametersByName.get(vector.params) }),
    ...Object.fromEntries(input),
    ...(vector.atSlot === undefined ? {} : { slots: vector.atSlot.map(({ slot }) => slot) }),
  })
}

interface ExpectedTransaction {
  readonly valid: boolean
  readonly code: number
  readonly name: string
  /** The code of another correct reason. */
  readonly orCode?: number
}

const nameByCode = new Map(
  loadVectors<Vector & { readonly code: number }>('semantic-reasons').map(({ code, name }) => [
    code,
    name,
  ]),
)

/** Every correct output for a vector, without its `ref`. */
export function rightAnswers(kind: SemanticKind, vector: SemanticVector): readonly unknown[] {
  if (kind === 'owners') return [{ result: { atSlot: vector.atSlot, related: vector.related } }]
  if (kind === 'tx') return rightVerdicts(vector)
  const { expected } = vector
  if (kind === 'syntax' && Reflect.get(Object(expected), 'valid') === 'either') {
    return [{ result: { valid: true } }, { result: { valid: false } }]
  }
  // The gateway charges the work score of the node, which is the lower one.
  const { orWorkScore: _, ...result } = Object(expected)
  return [{ result: typeof expected === 'string' ? expected : result }]
}

function rightVerdicts({ expected, totals }: SemanticVector): readonly unknown[] {
  const { valid, code, name, orCode } = expected as ExpectedTransaction
  const verdicts: unknown[] = [{ result: { valid, code, name, ...(valid && { totals }) } }]
  if (orCode !== undefined) {
    verdicts.push({ result: { valid, code: orCode, name: nameByCode.get(orCode) } })
  }
  return verdicts
}
