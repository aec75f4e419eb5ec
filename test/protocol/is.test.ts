import { globSync, readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { Address, RestrictedAddress } from '../../src/protocol/addresses.ts'
import { BasicBlockBody } from '../../src/protocol/block.ts'
import { allFeatures } from '../../src/protocol/features.ts'
import { is } from '../../src/protocol/is.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { Payload, SignedTransaction } from '../../src/protocol/transaction.ts'
import {
  allUnlockConditions,
  Expiration,
  Timelock,
  type UnlockCondition,
} from '../../src/protocol/unlock-conditions.ts'
import { Unlock } from '../../src/protocol/unlocks.ts'

describe('is', () => {
  const timelock = { type: Timelock.code, slot: 7 } as UnlockCondition

  test('compares the code of the value with that of the declaration', () => {
    expect(is(Timelock, timelock)).toBe(true)
    expect(is(Expiration, timelock)).toBe(false)
    expect(is(Timelock, undefined)).toBe(false)
  })

  test('narrows the type in both branches', () => {
    if (is(Timelock, timelock)) expectTypeOf(timelock.slot).toEqualTypeOf<number>()
    else expectTypeOf(timelock.type).toEqualTypeOf<0 | 1 | 3 | 4 | 5 | 6>()
    const body = undefined as BasicBlockBody | undefined
    if (is(BasicBlockBody, body) && is(SignedTransaction, body.payload)) {
      expectTypeOf(body.payload.type).toEqualTypeOf<1>()
    }
    const address = undefined as Address | undefined
    if (!is(RestrictedAddress, address)) return
    expectTypeOf(address.type).toEqualTypeOf<48>()
  })
})

test.each([
  ['addresses', Address.variants],
  ['outputs', Output.variants],
  ['payloads', Payload.variants],
  ['unlocks', Unlock.variants],
  ['unlock conditions', allUnlockConditions],
  ['features', allFeatures],
])('the codes of all %s differ', (_family, kinds) => {
  expect(new Set(kinds.map(({ code }) => code)).size).toBe(kinds.length)
})

/** A literal type code: compared with `type`, in a case label, as the kind of a part, or as the type of a value. */
const bareCode =
  /\btype (?:===|!==) \d|\bcase \d+:|\b(?:conditionOf|featureOf|chainKey)\([^)]*\b\d+[,)]|\btype: \d|\breadonly type: \d/

test('no room outside the protocol uses a literal type code', () => {
  const root = new URL('../../src/', import.meta.url)
  const files = globSync('**/*.ts', { cwd: root }).filter(
    (path) => !/^(?:protocol|generated)[\\/]/.test(path),
  )
  expect(files.length).toBeGreaterThan(100)
  const found = files.flatMap((path) =>
    readFileSync(new URL(path, root), 'utf8')
      .split('\n')
      .flatMap((line, i) => (bareCode.test(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
  )
  expect(found).toEqual([])
})
