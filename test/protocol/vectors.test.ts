import { describe, expect, test } from 'vitest'
import {
  checkForms,
  type FormVector,
  formVectorCounts,
  liftedFormCounts,
  schemaByKind,
} from '../support/vector-forms.ts'
import { loadVectors } from '../support/vectors.ts'

/**
 * Tests JSON and bytes of every vector that has them, in both directions: the verdict, the code and place of a refusal, and the single
 * encoding of an accepted value. Computed values are tested through `inspect`.
 */

const countByFileAndKind = {
  ...formVectorCounts,
  identifiers: { 'slot-commitment': 4 },
  lifted: liftedFormCounts,
} as const

const rows = Object.entries(countByFileAndKind).flatMap(([file, kinds]) =>
  Object.entries(kinds).map(([kind, count]) => ({ file, kind, count })),
)

describe('the forms of the vectors', () => {
  test.each(rows)('$file: $count of kind $kind', ({ file, kind, count }) => {
    const vectors = loadVectors<FormVector>(file).filter((vector) => vector.kind === kind)
    const complaints = vectors.flatMap((vector) =>
      checkForms(vector).map((complaint) => `${vector.name}: ${complaint}`),
    )
    expect(complaints).toEqual([])
    expect(vectors.length).toBe(count)
  })

  test('no vector with a form is left out', () => {
    const kinds = new Set(Object.keys(schemaByKind))
    const left = rows
      .map(({ file }) => file)
      .flatMap((file) =>
        loadVectors<FormVector>(file)
          .filter(({ json, bytes }) => json !== undefined || bytes !== undefined)
          .filter((vector) => !kinds.has(vector.kind)),
      )
    expect(left).toEqual([])
  })
})
