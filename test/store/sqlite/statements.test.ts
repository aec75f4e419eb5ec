import { constants, DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createStatementCache, rowsOf } from '../../../src/store/sqlite/statements.ts'

/** Tests that statements of SQLite are prepared once, and not again for each value of their parameters. */

describe('a cached statement', () => {
  const texts = [
    'SELECT n FROM numbers ORDER BY n LIMIT ?2 OFFSET ?1',
    'SELECT n FROM numbers WHERE n > ? ORDER BY n LIMIT ?',
    'SELECT n FROM (SELECT n FROM numbers WHERE n > ? ORDER BY n LIMIT ?) LIMIT ?2',
  ]
  test.each(texts)('is prepared once for all values of its limit: %s', (text) => {
    const database = new DatabaseSync(':memory:')
    database.exec('CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1), (2), (3), (4)')
    let prepared = 0
    // SQLite calls the authorizer whenever it prepares a statement.
    database.setAuthorizer((action) => {
      if (action === constants.SQLITE_SELECT) prepared++
      return constants.SQLITE_OK
    })
    const kept = createStatementCache(database, () => undefined)
    const read = (limit: number) => rowsOf(kept.get(text), [1, limit]).flat()
    expect(read(2)).toEqual([2, 3])
    const once = prepared
    expect([read(1), read(3)]).toEqual([[2], [2, 3, 4]])
    expect({ once: once > 0, prepared }).toEqual({ once: true, prepared: once })
    database.close()
  })
})
