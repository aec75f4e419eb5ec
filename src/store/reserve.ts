import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Room on the disk that a start needs: SQLite cannot even read a write-ahead log without some 40 KB for its index, which a
 * clean stop removes. A file beside the database keeps that much, and is deleted if the disk is full at the start.
 */

/** The room that is kept for one database. */
export interface Reserve {
  /** Gives the room up where there is not enough without it. */
  release(): void
  /** Takes it where there is plenty; says nothing where it cannot. */
  keep(): void
}

/** The reserve of a database file. */
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
        // The folder may be read only or gone; a caller that needs it for more than this reports it.
      }
    },
  }
}

/** The index of a write-ahead log, the log itself with some pages, and what a file system adds. */
const reserveBytes = 128 * 1024

const plentyBytes = 16 * reserveBytes
