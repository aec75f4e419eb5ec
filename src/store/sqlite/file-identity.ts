import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** Checks whether the files of a SQLite database are still at the paths at which they were opened, and whether its end was cut off. */

/** The identity of the files at some paths. */
export interface FileIdentity {
  /**
   * Throws if a file is missing or was replaced: writes would go into a file that has no path any longer. The check passes again once
   * the file is back. Also throws if the database file has become shorter than its content, which SQLite does not notice before it reads
   * a page that is gone: acknowledged blocks would be lost.
   */
  check(): void
}

/**
 * Creates the identity of a database file, of its write-ahead log, and of the index of that log, which has the locks: another process would
 * create another index, and both would write. The first check that finds a file records it. Takes microseconds.
 */
export function fileIdentityOf(file: string): FileIdentity {
  const known = new Map<string, number>()
  let knownBytes = 0

  function check(): void {
    for (const path of [file, `${file}-wal`, `${file}-shm`]) {
      const { ino: found, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
      const former = known.get(path)
      if (former === undefined && found !== undefined) known.set(path, found)
      if (former !== undefined && found !== former) {
        // SQLite's own code for this. SQLite checks only databases without a write-ahead log.
        const failure = new Error(`${path} was moved or removed while in use`)
        throw Object.assign(failure, { code: 'SQLITE_READONLY_DBMOVED' })
      }
      if (path !== file) continue
      // A vacuum shortens the file too, after it has written the number of pages that are left.
      if (size < knownBytes && !isWhole(file, size)) {
        const failure = new Error(`${file} was cut off while in use`)
        throw Object.assign(failure, { code: 'SQLITE_CORRUPT' })
      }
      knownBytes = size
    }
  }

  return { check }
}

/** Whether a file has the number of pages that its header states (SQLite file format, 1.3). */
function isWhole(file: string, bytes: number): boolean {
  const header = Buffer.alloc(32)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, header, { position: 0 })
  } finally {
    closeSync(opened)
  }
  const pages = header.readUInt32BE(28)
  // The value 1 means 65,536, which does not fit into two bytes.
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  return pages > 0 && pages * pageBytes <= bytes
}
