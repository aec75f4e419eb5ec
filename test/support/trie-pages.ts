import { bytesToHex } from '../../src/lib/hex.ts'
import { silentLog } from '../../src/lib/log.ts'
import { openStoredTries } from '../../src/node/embedded/stored-tries.ts'
import { databaseOf } from '../../src/store/connect.ts'
import type { Store } from '../../src/store/contract.ts'

/** Every page of the tries of a database, ordered by id. */
export async function pagesOf(url: string): Promise<readonly (readonly [number, string])[]> {
  const opened = await databaseOf({ url, wakeUrl: undefined, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  try {
    const rows = await opened.value.query('SELECT id, bytes FROM trie_pages ORDER BY id', [])
    return rows.map(([id, bytes]) => [Number(id), bytesToHex(bytes as Uint8Array)])
  } finally {
    await opened.value.close()
  }
}

/** The roots of the tries in a database. */
export async function keptRoots(read: Pick<Store['read'], 'triePages'>) {
  const tries = openStoredTries(read, 0)
  return {
    outputs: bytesToHex(await tries.change('outputs', [])),
    accounts: bytesToHex(await tries.change('accounts', [])),
  }
}
