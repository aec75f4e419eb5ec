/** Names of SQLite's result codes: the driver returns numbers, but logs and `faults.ts` use names. */

/** Returns the name of an extended result code, or of its primary code if it is not listed (sqlite.org/rescode.html). */
export function resultCodeName(code: number): string {
  const kind = kinds[code & 0xff]
  if (kind === undefined) return `SQLITE_${code}`
  const detail = details[kind]?.[(code >> 8) - 1]
  return detail === undefined ? `SQLITE_${kind}` : `SQLITE_${kind}_${detail}`
}

/** Names of primary codes, by number from 0. */
const kinds: readonly string[] = [
  ...['OK', 'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY'],
  ...['INTERRUPT', 'IOERR', 'CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN', 'PROTOCOL', 'EMPTY'],
  ...['SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH', 'MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE'],
  'NOTADB',
]

/** Names of extended codes, by number from 1, for the primary codes that the store distinguishes. */
const details: { readonly [kind: string]: readonly string[] | undefined } = {
  BUSY: ['RECOVERY', 'SNAPSHOT', 'TIMEOUT'],
  READONLY: ['RECOVERY', 'CANTLOCK', 'ROLLBACK', 'DBMOVED', 'CANTINIT', 'DIRECTORY'],
  CANTOPEN: ['NOTEMPDIR', 'ISDIR', 'FULLPATH', 'CONVPATH', 'DIRTYWAL', 'SYMLINK'],
  CORRUPT: ['VTAB', 'SEQUENCE', 'INDEX'],
  IOERR: [
    ...['READ', 'SHORT_READ', 'WRITE', 'FSYNC', 'DIR_FSYNC', 'TRUNCATE', 'FSTAT', 'UNLOCK'],
    ...['RDLOCK', 'DELETE', 'BLOCKED', 'NOMEM', 'ACCESS', 'CHECKRESERVEDLOCK', 'LOCK', 'CLOSE'],
    ...['DIR_CLOSE', 'SHMOPEN', 'SHMSIZE', 'SHMLOCK', 'SHMMAP', 'SEEK', 'DELETE_NOENT', 'MMAP'],
    ...['GETTEMPPATH', 'CONVPATH', 'VNODE', 'AUTH', 'BEGIN_ATOMIC', 'COMMIT_ATOMIC'],
    ...['ROLLBACK_ATOMIC', 'DATA', 'CORRUPTFS', 'IN_PAGE'],
  ],
  CONSTRAINT: [
    ...['CHECK', 'COMMITHOOK', 'FOREIGNKEY', 'FUNCTION', 'NOTNULL', 'PRIMARYKEY', 'TRIGGER'],
    ...['UNIQUE', 'VTAB', 'ROWID', 'PINNED', 'DATATYPE'],
  ],
}
