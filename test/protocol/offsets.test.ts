import fc from 'fast-check'
import { expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { Block } from '../../src/protocol/block.ts'
import { fieldsOf } from '../../src/protocol/schema/fields.ts'
import { locate, nodeOf } from '../../src/protocol/schema/offset.ts'
import { Reader } from '../../src/protocol/schema/reader.ts'
import { encode, type Schema } from '../../src/protocol/schema/schema.ts'
import { blockProblems, withOffsets } from '../../src/protocol/syntax.ts'
import { arbitraryOf } from '../support/arbitrary.ts'
import { blockOfManyProblems } from '../support/broken-block.ts'
import { leastOf } from '../support/least-of.ts'
import { runs } from '../support/runs.ts'
import { vectorNetworks } from '../support/vector-networks.ts'

/** Tests that a path leads to the byte at which the part begins: reading there returns the part. */

test('every part of random blocks is located', () => {
  fc.assert(
    fc.property(arbitraryOf(Block), (block) => {
      const bytes = encode(Block, block)
      const payload = block.body.type === 0 ? block.body.payload : undefined
      const numbering = payload?.type === 1 ? payload.transaction.numbering : undefined
      for (const { path, schema, value } of partsOf(Block, block, [])) {
        const reader = new Reader(bytes, numbering)
        reader.at = locate(Block, bytes, path.join('.'))
        expect(schema.read(reader)).toEqual(value)
      }
    }),
    runs(30),
  )
})

test('the fields of random blocks have all parts at their offsets, and their leaves cover all bytes in order', () => {
  fc.assert(
    fc.property(arbitraryOf(Block), (block) => {
      const bytes = encode(Block, block)
      const fields = fieldsOf(Block, bytes)
      const offsets = new Map(fields.map(({ path, offset }) => [path, offset]))
      for (const { path, schema } of partsOf(Block, block, [])) {
        // Entries of a map have no schema of their own.
        if (nodeOf(schema).kind === 'map') continue
        const name = path.join('.')
        expect(offsets.get(name), name).toBe(locate(Block, bytes, name))
      }
      let end = 0
      for (const { path, offset, length, value } of fields) {
        if (value === undefined) continue
        expect(offset, path).toBe(end)
        end += length
      }
      expect(end).toBe(bytes.length)
    }),
    runs(30),
  )
})

test('every problem of random blocks has a path and an offset', () => {
  const networks = [...vectorNetworks.values()]
  fc.assert(
    fc.property(arbitraryOf(Block), fc.constantFrom(...networks), (block, network) => {
      const bytes = encode(Block, block)
      const problems = withOffsets(blockProblems(block, { network, bytes, from: 'bytes' }), bytes)
      const parts = new Set(partsOf(Block, block, []).map(({ path }) => path.join('.')))
      for (const { path, offset } of problems) {
        expect(parts).toContain(path)
        expect(offset).toBe(locate(Block, bytes, path))
        expect(offset).toBeLessThan(bytes.length)
      }
    }),
    runs(300),
  )
})

test('the offsets of all problems take about as long as listing the fields of the block', async () => {
  const block = blockOfManyProblems()
  const bytes = encode(Block, block)
  const [first] = vectorNetworks.values()
  const network = present(first, 'a network')
  const problems = blockProblems(block, { network, bytes, from: 'bytes' })
  expect(problems.length).toBeGreaterThan(1_800)
  const timeOf = (work: () => void) => {
    const start = performance.now()
    work()
    return performance.now() - start
  }
  // One position after the other takes more than a hundred times as long.
  const limitMs = 20 * (await leastOf(() => timeOf(() => fieldsOf(Block, bytes)), 0, 3))
  const usedMs = await leastOf(() => timeOf(() => withOffsets(problems, bytes)), limitMs)
  expect(usedMs).toBeLessThan(limitMs)
})

interface Part {
  readonly path: readonly (string | number)[]
  readonly schema: Schema<unknown>
  readonly value: unknown
}

/** Returns a value and all its parts. */
function partsOf(schema: Schema<unknown>, value: unknown, path: Part['path']): readonly Part[] {
  return [{ path, schema, value }, ...innerParts(schema, value, path)]
}

function innerParts(schema: Schema<unknown>, value: unknown, path: Part['path']): readonly Part[] {
  const node = nodeOf(schema)
  if (node.kind === 'list' && Array.isArray(value)) {
    return value.flatMap((element, i) => partsOf(node.of, element, [...path, i]))
  }
  if (typeof value !== 'object' || value === null) return []
  if (node.kind === 'struct') {
    return Object.entries(node.fields).flatMap(([key, member]) =>
      partsOf(member, Reflect.get(value, key), [...path, key]),
    )
  }
  if (node.kind === 'optional') return innerParts(node.of, value, path)
  const type = Reflect.get(value, 'type')
  const chosen = node.kind === 'union' && node.variants.find(({ code }) => code === type)
  return chosen ? innerParts(chosen, value, path) : []
}
