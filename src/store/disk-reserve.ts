import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Disk space that a start needs: SQLite cannot even read a write-ahead log without some 40 KB for its index, which a clean shutdown
 * removes. A file beside the database reserves this space, and is deleted if the disk is full at the start.
 */

/** The reserved disk space of one database. */
export interface Reserve {
  /** Deletes the file if the free space is too small without it. */
  release(): void
  /** Creates the file if there is plenty of free space. Ignores failures. */
  keep(): void
}

/** Creates the reserve of a database file. */
export function reserveOf(file: string): Reserve {
  const path = `${file}-reserve`

  function free(): number {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize
  }

  return {
    release: () => {
      if (statSync(path, { throwIfNoEntry: false }) === undefined) return
      if (free() < reserveBytes) rmSync(path, { force: true })
    },
    keep: () => {
      try {
        if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
        if (free() > plentyBytes) writeFileSync(path, Buffer.alloc(reserveBytes, 0xff))
      } catch {
        // The folder may be read-only or missing. Callers that need the folder report this.
      }
    },
  }
}

/** Bytes for the index of a write-ahead log, some pages of the log itself, and the overhead of the file system. */
const reserveBytes = 128 * 1024

const plentyBytes = 16 * reserveBytes
