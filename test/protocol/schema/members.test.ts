import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StructSchema } from '../../../src/protocol/schema/composites.ts'
import { type Members, membersOfType } from '../../../src/protocol/schema/members.ts'
import { nodeOf } from '../../../src/protocol/schema/offset.ts'
import { Reader } from '../../../src/protocol/schema/reader.ts'
import { Malformed } from '../../../src/protocol/schema/refusal.ts'
import type { Schema } from '../../../src/protocol/schema/schema.ts'
import { Writer } from '../../../src/protocol/schema/writer.ts'
import { arbitraryOf } from '../../support/arbitrary.ts'
import { byteDamage, jsonDamage } from '../../support/damage.ts'
import { plainMembers } from '../../support/plain-members.ts'
import { rootTypes } from '../../support/root-types.ts'
import { runs } from '../../support/runs.ts'

/** Tests that members written into a copy of a template equal the result of a plain loop, for every object type. */

const structs = new Map<string, StructSchema<unknown>>()
for (const root of Object.values(rootTypes)) collect(root)

describe.each([...structs])('%s', (_name, struct) => {
  const { code, fields } = struct
  const copied = membersOfType(code, fields)
  const plain = plainMembers(code, fields)
  const values = arbitraryOf(struct).map(Object)

  test('has the same bytes as with a plain loop', () => {
    fc.assert(
      fc.property(values, byteDamage, (value, damage) => {
        const bytes = written(plain, value)
        expect(written(copied, value)).toEqual(bytes)
        expect(copied.size(value)).toBe(bytes.length)
        for (const given of [bytes, damage(bytes)]) {
          const [first, second] = [new Reader(given), new Reader(given)]
          expect(outcome(() => copied.read(first))).toEqual(outcome(() => plain.read(second)))
          expect(first.at).toBe(second.at)
        }
      }),
      runs(50),
    )
  })

  test('has the same JSON as with a plain loop', () => {
    fc.assert(
      fc.property(values, jsonDamage, (value, damage) => {
        const json = Object(struct.print(value))
        for (const given of [json, Object(damage(json))]) {
          expect(outcome(() => copied.parse(given))).toEqual(outcome(() => plain.parse(given)))
        }
      }),
      runs(50),
    )
  })
})

test('the protocol is declared without code generation from strings', () => {
  const block = new URL('../../../src/protocol/block.ts', import.meta.url)
  const flag = '--disallow-code-generation-from-strings'
  const code = `await import(${JSON.stringify(block.href)}); console.log('declared')`
  const output = execFileSync(process.execPath, [flag, '--input-type=module', '-e', code])
  expect(output.toString().trim()).toBe('declared')
})

function collect(schema: Schema<unknown>): void {
  const node = nodeOf(schema)
  if (node.kind === 'list' || node.kind === 'optional') collect(node.of)
  if (node.kind === 'union') for (const variant of node.variants) collect(variant)
  if (node.kind !== 'struct' || structs.has(node.name)) return
  structs.set(node.name, node)
  for (const member of Object.values(node.fields)) collect(member)
}

function written(members: Members, value: object): Uint8Array {
  const writer = new Writer(64)
  members.write(writer, value)
  return writer.bytes()
}

function outcome(work: () => object): object {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof Malformed) return { ...thrown }
    throw thrown
  }
}
