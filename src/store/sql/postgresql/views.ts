import type { Balance, TokenBalance } from '../../../generated/prisma/client.ts'
import { indexKindToNumber } from '../../values.ts'
import type { DueRow, IndexKeyRow, OwnedToken, ViewStatements } from '../view-statements.ts'
import { bytea, idsJson } from './values.ts'

/** The bulk statements of what is kept beside the log on PostgreSQL. */
export const viewStatements: ViewStatements = {
  async insertUnspent(tx, outputs) {
    const rows = outputs.map((output) => ({
      outputId: bytea(output.outputId),
      kind: output.kind,
      bookedSlot: output.bookedSlot,
      timelockSlot: output.timelockSlot ?? null,
      expirationSlot: output.expirationSlot ?? null,
      hasReturn: output.hasReturn,
      hasToken: output.hasToken,
    }))
    await tx.$executeRaw`
      INSERT INTO unspent_outputs ("outputId", kind, "bookedSlot", "timelockSlot",
        "expirationSlot", "hasReturn", "hasToken")
      SELECT "outputId", kind, "bookedSlot", "timelockSlot", "expirationSlot", "hasReturn",
        "hasToken"
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS added ("outputId" bytea,
        kind int, "bookedSlot" bigint, "timelockSlot" bigint, "expirationSlot" bigint,
        "hasReturn" boolean, "hasToken" boolean)`
  },

  async deleteUnspent(tx, outputIds) {
    await tx.$executeRaw`
      DELETE FROM unspent_outputs
      USING jsonb_to_recordset(${idsJson(outputIds)}::jsonb) AS gone (id bytea)
      WHERE "outputId" = gone.id`
  },

  async insertIndexKeys(tx, keys) {
    await tx.$executeRaw`
      INSERT INTO index_keys (kind, value, "bookedSlot", "outputId")
      SELECT kind, value, "bookedSlot", "outputId"
      FROM jsonb_to_recordset(${indexKeysJson(keys)}::jsonb)
        AS added (kind int, value bytea, "bookedSlot" bigint, "outputId" bytea)`
  },

  async deleteIndexKeys(tx, keys) {
    await tx.$executeRaw`
      DELETE FROM index_keys AS kept
      USING jsonb_to_recordset(${indexKeysJson(keys)}::jsonb)
        AS gone (kind int, value bytea, "bookedSlot" bigint, "outputId" bytea)
      WHERE kept.kind = gone.kind AND kept.value = gone.value
        AND kept."bookedSlot" = gone."bookedSlot" AND kept."outputId" = gone."outputId"`
  },

  async insertDue(tx, due) {
    await tx.$executeRaw`
      INSERT INTO due_outputs (slot, "outputId")
      SELECT slot, "outputId"
      FROM jsonb_to_recordset(${dueJson(due)}::jsonb) AS added (slot bigint, "outputId" bytea)`
  },

  async deleteDue(tx, due) {
    await tx.$executeRaw`
      DELETE FROM due_outputs AS kept
      USING jsonb_to_recordset(${dueJson(due)}::jsonb) AS gone (slot bigint, "outputId" bytea)
      WHERE kept.slot = gone.slot AND kept."outputId" = gone."outputId"`
  },

  balancesOf(tx, addresses) {
    return tx.$queryRaw<Balance[]>`
      SELECT address, total, available, timelocked, "storageDeposit", expiring, outputs
      FROM balances
      JOIN jsonb_to_recordset(${idsJson(addresses)}::jsonb) AS asked (id bytea) ON address = asked.id`
  },

  async putBalances(tx, balances) {
    const rows = balances.map((balance) => ({
      address: bytea(balance.address),
      total: balance.total.toString(),
      available: balance.available.toString(),
      timelocked: balance.timelocked.toString(),
      storageDeposit: balance.storageDeposit.toString(),
      expiring: balance.expiring.toString(),
      outputs: balance.outputs,
    }))
    await tx.$executeRaw`
      INSERT INTO balances
        (address, total, available, timelocked, "storageDeposit", expiring, outputs)
      SELECT address, total, available, timelocked, "storageDeposit", expiring, outputs
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS put (address bytea, total bigint,
        available bigint, timelocked bigint, "storageDeposit" bigint, expiring bigint,
        outputs bigint)
      ON CONFLICT (address) DO UPDATE SET total = excluded.total,
        available = excluded.available, timelocked = excluded.timelocked,
        "storageDeposit" = excluded."storageDeposit", expiring = excluded.expiring,
        outputs = excluded.outputs`
  },

  async deleteBalances(tx, addresses) {
    await tx.$executeRaw`
      DELETE FROM balances
      USING jsonb_to_recordset(${idsJson(addresses)}::jsonb) AS gone (id bytea)
      WHERE address = gone.id`
  },

  tokenBalancesOf(tx, owned) {
    return tx.$queryRaw<TokenBalance[]>`
      SELECT address, "tokenId", available, timelocked, expiring FROM token_balances
      JOIN jsonb_to_recordset(${ownedJson(owned)}::jsonb)
        AS asked (address bytea, "tokenId" bytea) USING (address, "tokenId")`
  },

  async putTokenBalances(tx, balances) {
    const rows = balances.map((balance) => ({
      address: bytea(balance.address),
      tokenId: bytea(balance.tokenId),
      available: bytea(balance.available),
      timelocked: bytea(balance.timelocked),
      expiring: bytea(balance.expiring),
    }))
    await tx.$executeRaw`
      INSERT INTO token_balances (address, "tokenId", available, timelocked, expiring)
      SELECT address, "tokenId", available, timelocked, expiring
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS put (address bytea,
        "tokenId" bytea, available bytea, timelocked bytea, expiring bytea)
      ON CONFLICT (address, "tokenId") DO UPDATE SET available = excluded.available,
        timelocked = excluded.timelocked, expiring = excluded.expiring`
  },

  async deleteTokenBalances(tx, owned) {
    await tx.$executeRaw`
      DELETE FROM token_balances AS kept
      USING jsonb_to_recordset(${ownedJson(owned)}::jsonb)
        AS gone (address bytea, "tokenId" bytea)
      WHERE kept.address = gone.address AND kept."tokenId" = gone."tokenId"`
  },

  async insertExpirationTransfers(tx, transfers) {
    const rows = transfers.map(({ address, slot, total }) => ({
      address: bytea(address),
      slot,
      total: total.toString(),
    }))
    await tx.$executeRaw`
      INSERT INTO expiration_transfers (address, slot, total)
      SELECT address, slot, total
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS added (address bytea, slot bigint, total bigint)`
  },
}

function indexKeysJson(keys: readonly IndexKeyRow[]): string {
  return JSON.stringify(
    keys.map(({ kind, value, bookedSlot, outputId }) => ({
      kind: indexKindToNumber(kind),
      value: bytea(value),
      bookedSlot,
      outputId: bytea(outputId),
    })),
  )
}

function dueJson(due: readonly DueRow[]): string {
  return JSON.stringify(due.map(({ slot, outputId }) => ({ slot, outputId: bytea(outputId) })))
}

function ownedJson(owned: readonly OwnedToken[]): string {
  return JSON.stringify(
    owned.map(({ address, tokenId }) => ({ address: bytea(address), tokenId: bytea(tokenId) })),
  )
}
