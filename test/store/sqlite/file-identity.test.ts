import { statSync, truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { storeFaultOf } from '../../../src/store/faults.ts'
import { databases, useStore } from '../../support/databases.ts'
import { incomingBlock, testGenesis } from '../../support/store-rows.ts'

/** A database file that changes while it is used. That a file is moved is tested in `test/e2e/disk.test.ts`. */

const kind = present(
  databases.find(({ name }) => name === 'sqlite'),
  'sqlite',
)
const use = useStore(kind.create)
const fileOf = () => use.url.replace('file:', '')

test.each([
  ['half of it', 2],
  ['all of it', Number.POSITIVE_INFINITY],
])('a file that loses %s accepts no blocks', async (_part, divisor) => {
  await use.store.write.initialize(use.term, testGenesis())
  await use.store.write.acceptBlocks([incomingBlock(1, { slot: 1 })])
  truncateSync(fileOf(), Math.floor(statSync(fileOf()).size / divisor))
  const failure = await use.store.write
    .acceptBlocks([incomingBlock(2, { slot: 1 })])
    .catch((error) => error)
  expect(failure).toMatchObject({ message: `${fileOf()} was cut off while in use` })
  expect(storeFaultOf(failure)).toBe('DAMAGED')
})

test('a file that is vacuumed accepts blocks', async () => {
  await use.store.write.initialize(use.term, testGenesis())
  const other = new DatabaseSync(fileOf(), { timeout: 20_000 })
  other.exec('CREATE TABLE filling AS SELECT zeroblob(2000000) AS bytes')
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  await use.store.write.acceptBlocks([incomingBlock(1, { slot: 1 })])
  const before = statSync(fileOf()).size
  for (const one of ['DROP TABLE filling', 'VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)'])
    other.exec(one)
  other.close()
  expect(statSync(fileOf()).size).toBeLessThan(before)
  expect(await use.store.write.acceptBlocks([incomingBlock(2, { slot: 1 })])).toEqual(['ACCEPTED'])
})
