import { afterAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { inspectLine } from '../../src/service/inspect.ts'
import type { InspectDeps } from '../../src/service/inspect-block.ts'
import { checkAnswer, type InspectedVector, linesOf } from '../support/vector-lines.ts'
import { vectorNetworks } from '../support/vector-networks.ts'
import { loadVectors } from '../support/vectors.ts'

/** Every vector that speaks of single values passes through `inspect`: verdict, both forms, and all values. */

const countByFileAndKind = {
  params: { 'protocol-parameters': 5 },
  addresses: { address: 64 },
  outputs: { output: 191 },
  blocks: { block: 46 },
  transactions: { block: 85 },
  rules: { block: 390 },
  'json-forms': { block: 195 },
  mutations: { block: 200 },
  identifiers: {
    'id-from-output-id': 4,
    'foundry-id': 4,
    'public-key-hash': 4,
    'network-id': 10,
    'slot-commitment': 4,
    'merkle-root': 10,
  },
  slots: { slot: 42 },
  proofs: { 'output-id-proof': 9 },
  bech32: { bech32: 37 },
  signatures: { signature: 243 },
  lifted: {
    'protocol-parameters': 1,
    block: 11,
    output: 9,
    'slot-commitment': 2,
    'output-id-proof': 4,
    'signed-transaction-payload': 2,
    address: 21,
    'merkle-root': 1,
    signature: 12,
  },
} as const

const checker = openSignatureChecker({ queueLimit: 256 })
afterAll(() => checker.close())
const network = present(vectorNetworks.get('standard'), 'the standard network')
const deps: InspectDeps = { checker, network }

describe('the vectors', () => {
  const rows = Object.entries(countByFileAndKind).flatMap(([file, kinds]) =>
    Object.entries(kinds).map(([kind, count]) => ({ file, kind, count })),
  )

  test.each(rows)('$file: $count of kind $kind', async ({ file, kind, count }) => {
    const vectors = loadVectors<InspectedVector>(file).filter((vector) => vector.kind === kind)
    const complaints: string[] = []
    for (const vector of vectors) {
      for (const line of linesOf(vector)) {
        const answer: unknown = JSON.parse(await inspectLine(deps, JSON.stringify(line.input)))
        complaints.push(...checkAnswer(vector, line, answer))
      }
    }
    expect(complaints).toEqual([])
    expect(vectors.length).toBe(count)
  })

  test.each(Object.entries(countByFileAndKind))('no kind of %s is left out', (file, kinds) => {
    const left = loadVectors<InspectedVector>(file).filter(({ kind }) => !(kind in kinds))
    expect(left).toEqual([])
  })
})
