import { accountEntryBytes } from '../ledger/accounts.ts'
import { hexToBytes } from '../lib/hex.ts'
import type { Tx } from './client.ts'
import { candidatesJson, committeeJson, rewardsJson } from './json-columns.ts'
import type { AccountVersion, EpochRow } from './rows.ts'

/** Writes what a slot changes beside the log: accounts and epochs. */

/** The changes of one or several slots. */
export interface StateChanges {
  readonly accounts: readonly AccountVersion[]
  readonly epochs: readonly EpochRow[]
}

/** Adds versions of accounts; adds epochs, or replaces those that are known. */
export async function writeState(tx: Tx, { accounts, epochs }: StateChanges): Promise<void> {
  if (accounts.length > 0) await tx.accountVersion.createMany({ data: accounts.map(columns) })
  for (const { epoch, committee, candidates, rewards } of epochs) {
    const data = {
      committee: committeeJson(committee),
      candidates: candidatesJson(candidates),
      rewards: rewardsJson(rewards),
    }
    const where = { epoch: BigInt(epoch) }
    await tx.epoch.upsert({ where, create: { ...where, ...data }, update: data })
  }
}

function columns({ accountId, slot, entry }: AccountVersion) {
  return {
    id: hexToBytes(accountId),
    slot: BigInt(slot),
    entry: entry === undefined ? null : Uint8Array.from(accountEntryBytes(entry)),
  }
}
