import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from '../../src/lib/hex.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { logVersion, pageVersion, type UpdateList } from '../../src/service/updates/page-version.ts'
import type { LogEntry } from '../../src/store/rows.ts'
import { addresses, type LogStore, openLogStore } from '../support/log-store.ts'
import { addressText, servedParameters } from '../support/serve-log.ts'

const [moving = '0x', still = '0x'] = addresses
let log: LogStore

beforeAll(async () => {
  log = await openLogStore()
})
afterAll(() => log.close())

/** An update of an output of an address; `byte` is each byte of its id, in hexadecimal. */
const ownedBy = (address: Hex, byte: string): LogEntry => ({
  address,
  class: 'OWNED',
  roles: ['OWNER'],
  outputId: `0x${byte.repeat(38)}` as OutputId,
  isSpent: false,
})
const list = (address: string): UpdateList => ({ address, class: 'OWNED' })
const versionOf = (lists: readonly UpdateList[], isOfTip = false, { store } = log) =>
  pageVersion({ store, parameters: servedParameters }, lists, isOfTip)()

test('the version of a page changes with its address, and the version of the tip with every slot', async () => {
  const [ofMoving, ofStill] = [list(addressText(moving)), list(addressText(still))]
  const versions = () =>
    Promise.all([
      versionOf([ofMoving]),
      versionOf([ofStill]),
      versionOf([ofMoving, ofStill]),
      versionOf([ofStill], true),
    ])
  const before = await versions()
  expect(await versions()).toEqual(before)
  await log.commit([ownedBy(moving, '07')])
  const [moved, stayed, both, tip] = await versions()
  expect(stayed).toBe(before[1])
  for (const [now, former] of [
    [moved, before[0]],
    [both, before[2]],
    [tip, before[3]],
  ])
    expect(now).not.toBe(former)
  // A slot without rows.
  await log.commit([])
  const last = await versions()
  expect(last.slice(0, 3)).toEqual([moved, stayed, both])
  expect(last[3]).not.toBe(tip)
})

test.each([
  ['the log', ({ store }: LogStore) => logVersion(store.read)],
  [
    'a page that depends on the tip',
    (own: LogStore) => versionOf([list(addressText(still))], true, own),
  ],
])(
  'the version of %s changes with each slot, when updates are pruned, and when the log is replaced or reset',
  async (_name, versionIn) => {
    const own = await openLogStore()
    const read = () => versionIn(own)
    const versions = [await read()]
    for (const change of [
      () => own.commit([ownedBy(moving, '08')]),
      () => own.commit([]),
      () => own.prune(1),
      () => own.replace('0xffeeddccbbaa9988'),
      () => own.rewind(own.slot() - 1),
      () => own.commit([]),
    ]) {
      await change()
      const version = await read()
      expect(await read()).toBe(version)
      versions.push(version)
    }
    expect(new Set(versions).size).toBe(versions.length)
    await own.close()
  },
)

test('a page of an invalid address has no version', async () => {
  expect(await versionOf([list('nonsense')])).toBeUndefined()
})
