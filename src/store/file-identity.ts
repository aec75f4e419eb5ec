import { statSync } from 'node:fs'

/** Whether the files of a SQLite database are still where they were opened. */

/** The place of some files. */
export interface FileIdentity {
  /**
   * Throws when one of them is not there any more, or another one is in its place: what is written goes on into a file that
   * cannot be found again. The check passes again once the file is back.
   */
  check(): void
}

/** The place of the file and of its log, each from the first check that finds it. Costs some microseconds. */
export function fileIdentityOf(file: string): FileIdentity {
  const known = new Map<string, number>()

  function check(): void {
    for (const path of [file, `${file}-wal`]) {
      const found = statSync(path, { throwIfNoEntry: false })?.ino
      const former = known.get(path)
      if (former === undefined && found !== undefined) known.set(path, found)
      if (former !== undefined && found !== former) {
        // The code that SQLite itself has for it, which looks only where there is no write-ahead log.
        const failure = new Error(`${path} was moved or removed while it is in use`)
        throw Object.assign(failure, { code: 'SQLITE_READONLY_DBMOVED' })
      }
    }
  }

  return { check }
}
