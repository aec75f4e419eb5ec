import { accountEntryFrom } from '../../ledger/accounts.ts'
import { hexToBytes, noBytes } from '../../lib/hex.ts'
import type { AccountId, OutputId } from '../../protocol/primitives.ts'
import { type LedgerSnapshotReads, outputsPerPage } from '../contract/ledger-snapshot.ts'
import { type Dialect, jsonOf, type RowsOfAddress } from './bulk.ts'
import { commitments, outputRows, prunedTips } from './bulk-tables.ts'
import { hexOfText } from './columns.ts'
import { chainPlaces } from './ledger-snapshot-tables.ts'
import { scanOfAddress } from './log-scans.ts'
import type { Reading } from './reading.ts'
import { isAccepted } from './slot-outputs.ts'
import { accountEntries } from './trie-tables.ts'

/** Reads of the ledger at the end of an earlier slot. An output unspent at that time is unspent now, or was spent in a later slot. */
export function ledgerSnapshotReads(reading: Reading): LedgerSnapshotReads {
  const holder = reading.row(
    commitments,
    'WHERE "lastSeq" >= ?1 AND "firstSeq" <= ?1 ORDER BY "lastSeq", slot LIMIT 1',
  )
  return {
    acceptedIn: acceptedRead(reading),
    outputsAt: outputsRead(reading),
    accountsAt: accountsRead(reading),
    tipsAt: tipsRead(reading),
    chainOrdinals: chainOrdinalsRead(reading),
    milestoneHolding: (seq) => holder(seq),
    snapshotProgress: progressRead(reading),
  }
}

/** Creates the read of a page of the accepted blocks or transactions of a slot. */
function acceptedRead({ query, dialect }: Reading): LedgerSnapshotReads['acceptedIn'] {
  // Qualified with the table: the bare name is also that of the selected text, by which PostgreSQL would sort.
  const pages = {
    blocks: `SELECT ${dialect.hex('id')}, CAST("issuingTime" AS TEXT), inbox FROM blocks
      WHERE slot = ?1 AND ("issuingTime", inbox) > (CAST(?2 AS BIGINT), ?3) AND ${isAccepted}
      ORDER BY blocks."issuingTime", blocks.inbox LIMIT ${idsPerPage}`,
    transactions: `SELECT ${dialect.hex('id')} FROM transactions
      WHERE slot = ?1 AND id > ?2 AND ${isAccepted} ORDER BY transactions.id LIMIT ${idsPerPage}`,
  }
  return async (slot, what, after = what === 'blocks' ? ['-1', -1] : [noBytes]) => {
    const page = await query(pages[what], [slot, ...after])
    const [id, time, inbox] = page.at(-1) ?? []
    if (id === undefined) return undefined
    const last = what === 'blocks' ? [String(time), Number(inbox)] : [hexToBytes(hexOfText(id))]
    return { ids: page.map(([one]) => hexOfText(one)), last }
  }
}

/** Ids in a page. Reading a page takes a millisecond. */
const idsPerPage = 250

/** Creates the read of a page of the outputs that were unspent at the end of a slot. */
function outputsRead({ rows }: Reading): LedgerSnapshotReads['outputsAt'] {
  // The join looks up the index of spent outputs once for each later slot. SQLite keeps the order of the tables of a CROSS JOIN.
  // In the other order, it would read every output that ever existed between two ids.
  const outputs = rows(
    outputRows,
    `WHERE outputs.id IN (
      WITH kept AS (SELECT "outputId" AS id FROM unspent_outputs
          WHERE "outputId" > ?1 AND "bookedSlot" <= ?2 ORDER BY "outputId" LIMIT ${outputsPerPage}),
        gone AS (SELECT spent.id FROM commitments CROSS JOIN outputs AS spent
          WHERE commitments.slot > ?2 AND spent."spentSlot" = commitments.slot AND spent.id > ?1
            AND spent.id <=
              coalesce((SELECT id FROM kept ORDER BY id LIMIT 1 OFFSET ${outputsPerPage - 1}), ?3)
            AND spent."bookedSlot" <= ?2)
      SELECT id FROM kept UNION SELECT id FROM gone)
    ORDER BY outputs.id LIMIT ${outputsPerPage}`,
  )
  return (slot, after) => outputs(after ? hexToBytes(after) : noBytes, slot, lastId)
}

/** Greater than every output id. */
const lastId = new Uint8Array(39).fill(255)

/** Creates the read of a page of accounts at the end of a slot. */
function accountsRead({ query, dialect }: Reading): LedgerSnapshotReads['accountsAt'] {
  const accounts = accountsText(dialect)
  return async (slot, after) => {
    const found = await query(accounts, [after ? hexToBytes(after) : noBytes, slot])
    const page = found.map(([id, entry]) => ({
      accountId: hexOfText(id) as AccountId,
      entry: accountEntries.read.entry(entry),
    }))
    const last = page.at(-1)?.accountId
    if (last === undefined) return undefined
    const accountsOf = page.flatMap(({ accountId, entry }) =>
      entry === undefined ? [] : { accountId, entry: accountEntryFrom(entry) },
    )
    return { accounts: accountsOf, last }
  }
}

/** Accounts in a page. An account may have 128 keys. */
const accountsPerPage = 100

/**
 * A page of accounts after an account, each with its newest entry up to a slot. An account may have a version in every slot, so the
 * statement steps through the index: one step to the next account, one to its entry. With a condition on each version, PostgreSQL
 * expects so few rows that it sorts all remaining rows for each of the last pages.
 */
function accountsText(dialect: Dialect): string {
  return `WITH RECURSIVE found(id, place) AS (
    SELECT (SELECT id FROM account_versions WHERE id > ?1 ORDER BY id LIMIT 1), 1
    UNION ALL
    SELECT (SELECT next.id FROM account_versions AS next WHERE next.id > found.id
      ORDER BY next.id LIMIT 1), found.place + 1
    FROM found WHERE found.id IS NOT NULL AND found.place < ${accountsPerPage})
    SELECT ${dialect.hex('found.id')}, (SELECT own.entry FROM account_versions AS own
      WHERE own.id = found.id AND own.slot <= ?2 ORDER BY own.slot DESC LIMIT 1)
    FROM found WHERE found.id IS NOT NULL ORDER BY found.place`
}

/** Creates the read of the ordinals of outputs as states of chains. */
function chainOrdinalsRead({ query, dialect }: Reading): LedgerSnapshotReads['chainOrdinals'] {
  const ordinals = `SELECT ${dialect.hex('given."outputId"')},
      (SELECT own.ordinal FROM chain_states AS own
        WHERE own."chainId" = given."chainId" AND own."outputId" = given."outputId"
        ORDER BY own.ordinal DESC LIMIT 1)
    FROM ${dialect.given(chainPlaces.columns)}`
  return async (states) => {
    if (states.length === 0) return new Map()
    const found = await query(ordinals, [jsonOf(dialect, chainPlaces, states)])
    return new Map(found.map(([id, ordinal]) => [hexOfText(id) as OutputId, Number(ordinal)]))
  }
}

/** Creates the read of the progress of the import of a ledger snapshot. */
function progressRead({ query }: Reading): LedgerSnapshotReads['snapshotProgress'] {
  return async () => {
    const [received] = await query(
      `SELECT head, position, CAST((SELECT coalesce(sum(total), 0) FROM balances) AS TEXT)
        FROM snapshot_progress WHERE id = 1`,
      [],
    )
    if (received === undefined) return undefined
    const [head, position, baseTokens] = received
    return {
      head: String(head),
      position: String(position),
      baseTokens: BigInt(String(baseTokens)),
    }
  }
}

/** Creates the read of a page of the tips of addresses up to a position. */
function tipsRead({ query, dialect }: Reading): LedgerSnapshotReads['tipsAt'] {
  const tips = dialect.shards === undefined ? tipsOfTable(dialect) : tipsOfShards(dialect)
  return async (seq, after) => {
    const found = await query(tips, [after ? hexToBytes(after) : noBytes, seq])
    const last = found.at(-1)
    if (last === undefined) return undefined
    const known = found.filter(([, , ordinal]) => ordinal !== null)
    return { tips: known.map(prunedTips.rowOf), last: hexOfText(last[0]) }
  }
}

/** Addresses in a page. SQLite blocks the event loop for some milliseconds while it reads a page. */
const pageLimit = 500

/** A page of addresses after an address, each with its newest row up to a position. Each address takes two steps of an index. */
function tipsOfTable(dialect: Dialect): string {
  const address = { address: 'page.address', class: 'classes.class', to: '<= ?2' } as const
  return `WITH RECURSIVE found(address, place) AS (
    SELECT (SELECT address FROM ledger_updates WHERE address > ?1 ORDER BY address LIMIT 1), 1
    UNION ALL
    SELECT (SELECT next.address FROM ledger_updates AS next WHERE next.address > found.address
      ORDER BY next.address LIMIT 1), found.place + 1
    FROM found WHERE found.address IS NOT NULL AND found.place < ${pageLimit}),
    page AS (SELECT address FROM (
      SELECT address FROM found WHERE address IS NOT NULL
      UNION SELECT address FROM (SELECT address FROM pruned_tips WHERE address > ?1
        ORDER BY address LIMIT ${2 * pageLimit}) AS removed) AS known
    ORDER BY address LIMIT ${pageLimit}),
    ${tipsOfPage(dialect, {
      tip: `(SELECT seq FROM ledger_updates AS log
        WHERE ${dialect.ofAddress(address)}
        ORDER BY ${dialect.byPosition('DESC')} LIMIT 1)`,
      log: 'ledger_updates AS log ON log.seq = tips.seq',
    })}`
}

/** The same page for a log in shards. The table of tips on the coordinator lists the addresses. */
function tipsOfShards(dialect: Dialect): string {
  const ofAddress = (
    address: string,
    updateClass: string,
    bounds: Pick<RowsOfAddress, 'from' | 'to'>,
  ) =>
    scanOfAddress(dialect, {
      address,
      class: updateClass,
      ...bounds,
      direction: 'DESC',
      limit: '1',
    })
  const own = { from: '>= tips.seq', to: '<= tips.seq' } as const
  return `WITH page AS (SELECT DISTINCT address FROM log_tips WHERE address > ?1
      ORDER BY address LIMIT ${pageLimit}),
    ${tipsOfPage(dialect, {
      tip: `(SELECT seq ${ofAddress('page.address', 'classes.class', { to: '<= ?2' })})`,
      log: `LATERAL (SELECT * ${ofAddress('tips.address', 'tips.class', own)}) AS log ON true`,
    })}`
}

function tipsOfPage(
  dialect: Dialect,
  { tip, log }: { readonly tip: string; readonly log: string },
): string {
  return `tips AS (SELECT page.address, classes.class, ${tip} AS seq
      FROM page CROSS JOIN (SELECT 0 AS class UNION ALL SELECT 1) AS classes)
    SELECT ${dialect.hex('tips.address')}, tips.class,
      CASE WHEN log.seq IS NULL THEN pruned.ordinal ELSE log.ordinal END,
      ${dialect.hex('CASE WHEN log.seq IS NULL THEN pruned."historyHash" ELSE log."historyHash" END')},
      CASE WHEN log.seq IS NULL THEN pruned."milestoneIndex" ELSE log."milestoneIndex" END,
      CAST(CASE WHEN log.seq IS NULL THEN pruned.balance ELSE log.balance END AS TEXT)
    FROM tips LEFT JOIN ${log}
      LEFT JOIN pruned_tips AS pruned ON pruned.address = tips.address AND pruned.class = tips.class
    ORDER BY tips.address, tips.class`
}
