import type Sqlite from 'better-sqlite3'

/** What a file says of itself; throws where it is no database. */
export function tableNames(file: Sqlite.Database): readonly string[] {
  const rows = file
    .prepare<[], { readonly name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
  return rows.map(({ name }) => name)
}
