import type { PlacedState } from '../../ledger/chain-states.ts'
import { indexKeysOf } from '../../ledger/index-keys.ts'
import { present } from '../../lib/assert.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { OutputId, TransactionId } from '../../protocol/primitives.ts'
import type { SqlConnection } from '../client.ts'
import { inChunks } from '../in-chunks.ts'
import { columnOf } from '../move/export-format.ts'
import { insertText, putText } from '../sql/bulk.ts'
import { chainStates, indexKeys, type RowIn, tokenBalances } from '../sql/bulk-tables.ts'
import { rowsOf } from '../sql/tables.ts'
import { uint256ToHex } from '../values.ts'
import { chainRows, placedState } from './chain-states.ts'
import { type FilledDatabase, writeRows } from './fill-statements.ts'
import { type DecodedOutput, decodedOutput } from './output-index.ts'

/** The migration that adds the states of chains and the totals of tokens. */
export const chainMigration = '20261122075353_chain_states'

/**
 * Fills the tables that the migration `chain_states` adds, in its transaction. SQL alone cannot do this: the id of a chain is the hash of
 * its first output id, and token amounts have 256 bits. Reads every output once, 1,000,000 in some ten seconds, and holds the states of
 * all chains in memory.
 */
export async function fillChains(
  database: FilledDatabase,
  connection: SqlConnection,
): Promise<void> {
  const [[newest] = []] = await rowsOf(connection, 'SELECT max(slot) FROM commitments')
  if (newest === null || newest === undefined) return
  const { states, keys } = await contentsAsOf(database, connection, Number(newest))
  const byChain = Map.groupBy(states, ({ chainId }) => chainId)
  const rows = [...byChain.values()].flatMap((ofChain) => chainRows(ofChain))
  await inChunks(rows, (some) => writeRows(database, connection, insertText, chainStates, some))
  await inChunks(keys, (some) => writeRows(database, connection, insertText, indexKeys, some))
  await addTotals(database, connection)
}

interface Contents {
  readonly states: readonly PlacedState[]
  /** Index keys of the holders of unspent chain outputs. */
  readonly keys: readonly RowIn<typeof indexKeys>[]
}

async function contentsAsOf(
  { tables }: FilledDatabase,
  connection: SqlConnection,
  slot: number,
): Promise<Contents> {
  const states: PlacedState[] = []
  const keys: RowIn<typeof indexKeys>[] = []
  const [outputs] = await tables.tables(connection, new Set(['outputs']))
  const table = present(outputs, 'table outputs')
  const [id, bytes, bookedSlot, spentSlot, spentBy] = (
    ['id', 'bytes', 'bookedSlot', 'spentSlot', 'spentBy'] as const
  ).map((name) => columnOf(table, name)) as [number, number, number, number, number]
  for (let after: readonly string[] | undefined; ; ) {
    const page = await tables.rowsAfterKey(connection, table, { after, limit: outputsPerPage })
    for (const text of page) {
      const row: readonly (string | null)[] = JSON.parse(text)
      const decoded = decodedOutput({
        outputId: `0x${row[id]}` as OutputId,
        bytes: hexToBytes(`0x${row[bytes]}`),
        bookedSlot: Number(row[bookedSlot]),
        spentSlot: row[spentSlot] == null ? undefined : Number(row[spentSlot]),
      })
      after = [String(row[id])]
      if (decoded.spentSlot === undefined || decoded.spentSlot > slot)
        keys.push(...holderRows(decoded))
      // States of later slots are added when their slot is committed.
      if (decoded.bookedSlot > slot) continue
      const by = row[spentBy] == null ? undefined : (`0x${row[spentBy]}` as TransactionId)
      for (const state of placedState(decoded)) states.push({ ...state, spentBy: by })
    }
    if (page.length < outputsPerPage) return { states, keys }
  }
}

const outputsPerPage = 5_000

/** Returns the holder keys of an output. A later migration adds those of outputs that expire. */
function holderRows({ outputId, output, bookedSlot }: DecodedOutput): RowIn<typeof indexKeys>[] {
  const keys = indexKeysOf(outputId, output).filter(({ kind }) => kind === 'CHAIN_HOLDER')
  return keys.map((key) => ({ ...key, bookedSlot, outputId }))
}

/** Corrects the totals of tokens, which the migration has set to the available amounts. */
async function addTotals(database: FilledDatabase, connection: SqlConnection): Promise<void> {
  const { dialect } = database.statements
  const none = uint256ToHex(0n)
  const columns = tokenBalances.columns.map(({ name }) => dialect.hex(`"${name}"`))
  const rows = await rowsOf(
    connection,
    `SELECT ${columns.join(', ')} FROM token_balances
      WHERE ${dialect.hex('timelocked')} <> '${none}' OR ${dialect.hex('expiring')} <> '${none}'`,
  )
  const totals = rows.map((row) => {
    const { available, timelocked, expiring, ...rest } = tokenBalances.rowOf(row)
    const total = BigInt(available) + BigInt(timelocked) + BigInt(expiring)
    return { ...rest, available, timelocked, expiring, total: uint256ToHex(total) }
  })
  await inChunks(totals, (some) => writeRows(database, connection, putText, tokenBalances, some))
}
