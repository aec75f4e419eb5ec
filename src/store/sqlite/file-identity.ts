import { statSync } from 'node:fs'

/** Checks whether the files of a SQLite database are still at the paths at which they were opened. */

/** The identity of the files at some paths. */
export interface FileIdentity {
  /**
   * Throws if a file is missing or was replaced: writes would go into a file that has no path any longer. The check passes again once
   * the file is back.
   */
  check(): void
}

/**
 * Creates the identity of a database file, of its write-ahead log, and of the index of that log, which has the locks: another process would
 * create another index, and both would write. The first check that finds a file records it. Takes microseconds.
 */
export function fileIdentityOf(file: string): FileIdentity {
  const known = new Map<string, number>()

  function check(): void {
    for (const path of [file, `${file}-wal`, `${file}-shm`]) {
      const found = statSync(path, { throwIfNoEntry: false })?.ino
      const former = known.get(path)
      if (former === undefined && found !== undefined) known.set(path, found)
      if (former !== undefined && found !== former) {
        // SQLite's own code for this. SQLite checks only databases without a write-ahead log.
        const failure = new Error(`${path} was moved or removed while in use`)
        throw Object.assign(failure, { code: 'SQLITE_READONLY_DBMOVED' })
      }
    }
  }

  return { check }
}
