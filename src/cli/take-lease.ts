import { silentLog } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { awaitLease, type Lease } from '../node/lease.ts'
import { nameOfThisProcess } from '../node/lease-holder.ts'
import type { StoreWriter } from '../store/contract.ts'
import type { Database } from '../store/database.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { createWriter } from '../store/write/writer.ts'

/** The lease of a database that a command writes, with the writer for it. */
export interface CommandLease extends Lease {
  readonly write: StoreWriter
}

/** Takes the lease; the error is a message: another process holds the lease, or the command was interrupted while it waited. */
export async function takeLease(
  database: Database,
  signal: AbortSignal,
): Promise<Result<CommandLease, string>> {
  const write = createWriter(database, createSerialQueue())
  const lease = await awaitLease({ write, log: silentLog, holder: nameOfThisProcess() }, signal)
  if (lease.ok) return ok({ ...lease.value, write })
  if (signal.aborted) return err('interrupted')
  return err(`another process (${lease.error.holder}) writes this database`)
}

export const leaseLost = 'another process has started to write this database'
