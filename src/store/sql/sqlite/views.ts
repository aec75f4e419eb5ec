import type { Balance, TokenBalance } from '../../../generated/prisma/client.ts'
import { digits, indexKindToNumber } from '../../values.ts'
import type { DueRow, IndexKeyRow, OwnedToken, ViewStatements } from '../view-statements.ts'
import { idsJson } from './ids-json.ts'

/** The bulk statements of what is kept beside the log on SQLite. */
export const viewStatements: ViewStatements = {
  async insertUnspent(tx, outputs) {
    const rows = outputs.map((output) => [
      digits(output.outputId),
      output.kind,
      output.bookedSlot,
      output.timelockSlot ?? null,
      output.expirationSlot ?? null,
      output.hasReturn ? 1 : 0,
      output.hasToken ? 1 : 0,
    ])
    await tx.$executeRaw`
      INSERT INTO unspent_outputs ("outputId", kind, "bookedSlot", "timelockSlot",
        "expirationSlot", "hasReturn", "hasToken")
      SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
        value ->> 6
      FROM json_each(${JSON.stringify(rows)})`
  },

  async deleteUnspent(tx, outputIds) {
    await tx.$executeRaw`
      DELETE FROM unspent_outputs
      WHERE "outputId" IN (SELECT unhex(value) FROM json_each(${idsJson(outputIds)}))`
  },

  async insertIndexKeys(tx, keys) {
    await tx.$executeRaw`
      INSERT INTO index_keys (kind, value, "bookedSlot", "outputId")
      SELECT given.value ->> 0, unhex(given.value ->> 1), given.value ->> 2, unhex(given.value ->> 3)
      FROM json_each(${indexKeysJson(keys)}) AS given`
  },

  async deleteIndexKeys(tx, keys) {
    await tx.$executeRaw`
      DELETE FROM index_keys WHERE (kind, value, "bookedSlot", "outputId") IN (
        SELECT given.value ->> 0, unhex(given.value ->> 1), given.value ->> 2, unhex(given.value ->> 3)
        FROM json_each(${indexKeysJson(keys)}) AS given)`
  },

  async insertDue(tx, due) {
    await tx.$executeRaw`
      INSERT INTO due_outputs (slot, "outputId")
      SELECT value ->> 0, unhex(value ->> 1) FROM json_each(${dueJson(due)})`
  },

  async deleteDue(tx, due) {
    await tx.$executeRaw`
      DELETE FROM due_outputs WHERE (slot, "outputId") IN (
        SELECT value ->> 0, unhex(value ->> 1) FROM json_each(${dueJson(due)}))`
  },

  balancesOf(tx, addresses) {
    return tx.$queryRaw<Balance[]>`
      SELECT address, total, available, timelocked, "storageDeposit", expiring, outputs
      FROM balances
      WHERE address IN (SELECT unhex(value) FROM json_each(${idsJson(addresses)}))`
  },

  async putBalances(tx, balances) {
    const rows = balances.map((balance) => [
      digits(balance.address),
      balance.total.toString(),
      balance.available.toString(),
      balance.timelocked.toString(),
      balance.storageDeposit.toString(),
      balance.expiring.toString(),
      balance.outputs,
    ])
    await tx.$executeRaw`
      INSERT INTO balances
        (address, total, available, timelocked, "storageDeposit", expiring, outputs)
      SELECT unhex(value ->> 0), CAST(value ->> 1 AS INTEGER), CAST(value ->> 2 AS INTEGER),
        CAST(value ->> 3 AS INTEGER), CAST(value ->> 4 AS INTEGER), CAST(value ->> 5 AS INTEGER),
        value ->> 6
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (address) DO UPDATE SET total = excluded.total,
        available = excluded.available, timelocked = excluded.timelocked,
        "storageDeposit" = excluded."storageDeposit", expiring = excluded.expiring,
        outputs = excluded.outputs`
  },

  async deleteBalances(tx, addresses) {
    await tx.$executeRaw`
      DELETE FROM balances
      WHERE address IN (SELECT unhex(value) FROM json_each(${idsJson(addresses)}))`
  },

  tokenBalancesOf(tx, owned) {
    return tx.$queryRaw<TokenBalance[]>`
      SELECT address, "tokenId", available, timelocked, expiring FROM token_balances
      WHERE (address, "tokenId") IN (
        SELECT unhex(value ->> 0), unhex(value ->> 1) FROM json_each(${ownedJson(owned)}))`
  },

  async putTokenBalances(tx, balances) {
    const rows = balances.map((balance) => [
      digits(balance.address),
      digits(balance.tokenId),
      digits(balance.available),
      digits(balance.timelocked),
      digits(balance.expiring),
    ])
    await tx.$executeRaw`
      INSERT INTO token_balances (address, "tokenId", available, timelocked, expiring)
      SELECT unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), unhex(value ->> 3),
        unhex(value ->> 4)
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (address, "tokenId") DO UPDATE SET available = excluded.available,
        timelocked = excluded.timelocked, expiring = excluded.expiring`
  },

  async deleteTokenBalances(tx, owned) {
    await tx.$executeRaw`
      DELETE FROM token_balances WHERE (address, "tokenId") IN (
        SELECT unhex(value ->> 0), unhex(value ->> 1) FROM json_each(${ownedJson(owned)}))`
  },

  async insertExpirationTransfers(tx, transfers) {
    const rows = transfers.map(({ address, slot, total }) => [
      digits(address),
      slot,
      total.toString(),
    ])
    await tx.$executeRaw`
      INSERT INTO expiration_transfers (address, slot, total)
      SELECT unhex(value ->> 0), value ->> 1, CAST(value ->> 2 AS INTEGER)
      FROM json_each(${JSON.stringify(rows)})`
  },
}

function indexKeysJson(keys: readonly IndexKeyRow[]): string {
  return JSON.stringify(
    keys.map(({ kind, value, bookedSlot, outputId }) => [
      indexKindToNumber(kind),
      digits(value),
      bookedSlot,
      digits(outputId),
    ]),
  )
}

function dueJson(due: readonly DueRow[]): string {
  return JSON.stringify(due.map(({ slot, outputId }) => [slot, digits(outputId)]))
}

function ownedJson(owned: readonly OwnedToken[]): string {
  return JSON.stringify(owned.map(({ address, tokenId }) => [digits(address), digits(tokenId)]))
}
