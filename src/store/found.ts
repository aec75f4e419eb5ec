import { hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { appendToLog } from './append.ts'
import type { AlreadyFounded, Genesis, LeaseLost } from './contract.ts'
import { closeSlots } from './inbox.ts'
import { underLease } from './lease.ts'
import type { AccountRow, LogTip } from './rows.ts'
import type { Writing } from './sql/statements.ts'

/** Writes the first state of a ledger into a database that has none. */
export async function found(
  writing: Writing,
  term: number,
  genesis: Genesis,
): Promise<Result<LogTip, LeaseLost | AlreadyFounded>> {
  const { tx, sql } = writing
  return underLease(writing, term, async () => {
    if ((await tx.network.count()) > 0) return err({ code: 'ALREADY_FOUNDED' })
    const { network, outputs, accounts, commit } = genesis
    const epoch = hexToBytes(network.epoch)
    await tx.network.create({
      data: { id: 1n, epoch, parameters: Uint8Array.from(network.parameters) },
    })
    await sql.insertOutputs(tx, outputs)
    await tx.account.createMany({ data: accounts.map(accountColumns) })
    const seq = await appendToLog(writing, 0, [commit])
    await closeSlots(writing, term, commit.slot)
    return ok({ epoch: network.epoch, seq, slot: commit.slot, prunedSeq: 0 })
  })
}

function accountColumns(account: AccountRow) {
  return {
    id: hexToBytes(account.accountId),
    outputId: hexToBytes(account.outputId),
    credits: account.credits,
    updatedSlot: BigInt(account.updatedSlot),
    expirySlot: BigInt(account.expirySlot),
    keyHashes: Uint8Array.from(Buffer.concat(account.keyHashes.map(hexToBytes))),
  }
}
