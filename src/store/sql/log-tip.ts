import { assert, present } from '../../lib/assert.ts'
import { bytesToHex } from '../../lib/hex.ts'
import type { Database } from '../connect.ts'
import type { LogTip } from '../rows.ts'

/**
 * How far the log of a founded ledger reaches, in one statement that both databases understand: nearly every question asks
 * it. The epoch is read each time, for the database may be replaced by another while this process goes on.
 */
export async function readLogTip(ask: Database['ask']): Promise<LogTip> {
  const [row] = await ask(statement, [])
  const [epoch, slot, lastSeq, firstSeq] = present(row, 'genesis commitment')
  assert(epoch instanceof Uint8Array, 'an epoch is bytes')
  const seq = Number(lastSeq)
  // Where no row is left, all are given up.
  const prunedSeq = firstSeq === null ? seq : Number(firstSeq) - 1
  return { epoch: bytesToHex(epoch), seq, slot: Number(slot), prunedSeq }
}

const statement = `
  SELECT epoch, slot, "lastSeq", (SELECT min(seq) FROM ledger_updates) AS "firstSeq"
  FROM commitments CROSS JOIN network ORDER BY slot DESC LIMIT 1`
