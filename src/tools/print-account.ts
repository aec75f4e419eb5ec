import { type AccountEntry, accountEntryBytes } from '../ledger/accounts.ts'
import { bytesToHex } from '../lib/hex.ts'
import type { Json } from '../protocol/schema/schema.ts'

/** Entries of the accounts ledger as JSON, with the member names of the test vectors. */

export function printAccount(entry: AccountEntry): Json {
  return {
    credits: entry.credits.toString(),
    updateSlot: entry.updatedSlot,
    expirySlot: entry.expirySlot,
    outputId: entry.outputId,
    blockIssuerKeys: entry.keyHashes,
    validatorStake: entry.validatorStake.toString(),
    delegationStake: entry.delegationStake.toString(),
    stakeEndEpoch: entry.stakeEndEpoch,
    fixedCost: entry.fixedCost.toString(),
    latestSupportedVersion: entry.supportedVersion,
    latestSupportedHash: entry.supportedHash,
    bytes: bytesToHex(accountEntryBytes(entry)),
  }
}

export function printAccounts(entries: Iterable<AccountEntry>): Json {
  return Object.fromEntries([...entries].map((entry) => [entry.accountId, printAccount(entry)]))
}
