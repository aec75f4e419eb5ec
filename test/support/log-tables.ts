import Sqlite from 'better-sqlite3'

/** The tables of a log as they lie in the file, read past the program: what two gateways over one ledger must share. */

/** Tables and the columns that are the same everywhere, in the order they are compared in. */
const compared = {
  ledger_updates:
    'seq, hex(address), class, ordinal, roles, milestoneIndex, hex(outputId), isSpent, hex(chain), balance',
  commitments: 'slot, hex(id), hex(bytes), firstSeq, lastSeq',
  outputs: 'hex(id), hex(bytes), hex(blockId), bookedSlot, spentSlot, hex(spentBy)',
  balances: 'hex(address), total',
  network: 'hex(epoch), hex(parameters)',
} as const

/** Rows as text, by table, up to and including a slot. */
export type LogTables = Readonly<Record<keyof typeof compared, readonly string[]>>

/** Reads them; `upTo` leaves out what a gateway that is ahead has more. */
export function logTables(databaseUrl: string, upTo: number): LogTables {
  const database = new Sqlite(databaseUrl.slice('file:'.length), { readonly: true })
  const until: Partial<Record<keyof typeof compared, string>> = {
    ledger_updates: `WHERE milestoneIndex <= ${upTo}`,
    commitments: `WHERE slot <= ${upTo}`,
    outputs: `WHERE bookedSlot <= ${upTo}`,
  }
  const read = (table: keyof typeof compared) =>
    database
      .prepare(`SELECT ${compared[table]} FROM ${table} ${until[table] ?? ''} ORDER BY 1, 2`)
      .raw()
      .all()
      .map((row) => JSON.stringify(row))
  const tables = Object.keys(compared).map((name) => [name, read(name as keyof typeof compared)])
  database.close()
  return Object.fromEntries(tables)
}
