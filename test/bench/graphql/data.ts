import { writeFileSync } from 'node:fs'
import { bytesToHex, type Hex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { developmentGenesis, slotsBeforeStart } from '../../../src/node/embedded/development.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { branchOf, idFromBytes } from '../../../src/store/values.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { statementsToPublish } from '../../support/published-tip.ts'
import { blockOf, offerOf, taggedData, untilCommitted } from '../../support/wallet.ts'
import { keyOf, secretOf } from '../keys.ts'
import { unwrap } from '../transfers.ts'

/**
 * A ledger for benchmarks of reads. A gateway creates it and commits its slots, then SQL statements add rows to the log, because
 * transactions would take hours. Afterwards a gateway continues it.
 */

/** The number of slots with rows; all of them are before the first start. */
const slots = 2_000
/** The rows of each address: more than the largest page. The rows of all addresses alternate. */
export const rowsOfAddress = 1_200
/** The newest rows of each address that have an output, a transaction and a block; enough for many different pages. */
export const linkedRowsOfAddress = 120

/** The number of keys with funds at genesis; the first is that of an issuer account. */
export const lanes = 100

/** A database with a long log. */
export interface LargeLedger {
  readonly url: string
  /** The number of added rows. The first one has the position `firstSeq`, and each address has every `addresses`th row. */
  readonly rows: number
  readonly addresses: number
  readonly firstSeq: number
  /** The parts of its cursors: the log id, and the branch of each milestone. */
  readonly logId: Hex
  readonly branches: readonly Hex[]
  /** The start of slot 1 in Unix seconds. */
  readonly began: number
  /** The settings of a gateway on the database. */
  readonly env: Readonly<Record<string, string>>
}

/** Creates the ledger in an empty database; `keyFile` is a path for the key of the gateways. */
export async function makeLedger(url: string, keyFile: string, rows: number): Promise<LargeLedger> {
  const began = Math.floor(Date.now() / 1_000) - slots - 60
  const genesisFile = `${keyFile}.genesis.json`
  writeFileSync(genesisFile, genesisText(began))
  const env = {
    DATABASE_URL: url,
    KEY_FILE: keyFile,
    GENESIS_FILE: genesisFile,
    ISSUER_KEY: secretOf(lanes),
    LOG_LEVEL: 'error',
    NODE_ENV: 'production',
  }
  const gateway = await startProgram(env)
  await untilCommitted(gateway.url, slots)
  const { bytes } = blockOf(await offerOf(gateway.url), taggedData('0x62656e6368', '0x00'))
  await gateway.end('SIGTERM')
  const addresses = Math.floor(rows / rowsOfAddress)
  const ledger = { url, rows: addresses * rowsOfAddress, addresses, began, env }
  return { ...ledger, ...(await addRows(ledger, bytesToHex(bytes).slice(2))) }
}

/** The text of a genesis with many funded keys. */
function genesisText(began: number): string {
  const users = Array.from({ length: lanes }, (_, lane) => keyOf(lane))
  const keys = { users, issuer: keyOf(lanes), faucet: keyOf(lanes + 1) }
  const { parameters, outputs, credits } = developmentGenesis(keys, began + slotsBeforeStart)
  return JSON.stringify({
    parameters: print(ProtocolParameters, parameters),
    outputs: outputs.map((output) => print(Output, output)),
    credits: Object.fromEntries(Array.from(credits, ([id, mana]) => [id, mana.toString()])),
  })
}

/** Starts a gateway on the ledger: the built program, as users run it. */
export async function startGateway({ env }: LargeLedger): Promise<Program> {
  const gateway = await startProgram(env)
  await untilCommitted(gateway.url, slots)
  return gateway
}

/** An added row. */
export interface LedgerRow {
  readonly seq: number
  readonly slot: number
  readonly outputId: Hex
  readonly isSpent: boolean
}

/** Row `n` (from 0) of the address `of`, as the statements below create it. */
export function rowOf(
  { rows, addresses, firstSeq }: LargeLedger,
  n: number,
  of: number,
): LedgerRow {
  const i = n * addresses + of
  const slot = 1 + Math.floor((i * slots) / rows)
  const spread = hex((BigInt(i) * 2_654_435_761n) % 2n ** 32n, 8)
  const slotBytes = `${hex(slot % 256, 2)}${hex(slot >> 8, 2)}0000`
  const outputId = `0x${hex(i, 16)}${spread.repeat(6)}${slotBytes}0000` as const
  return { seq: firstSeq + i, slot, outputId, isSpent: i % 2 === 0 }
}

function hex(n: number | bigint, digits: number): string {
  return n.toString(16).padStart(digits, '0')
}

type Begun = Pick<LargeLedger, 'url' | 'rows' | 'addresses'>

/** Adds the rows; `block` is the content of their blocks in hexadecimal. */
async function addRows(ledger: Begun, block: string) {
  const { url, rows, addresses } = ledger
  const { kind, writer, reader, close } = unwrap(await openDatabase({ url, log: silentLog }))
  const words = kind === 'sqlite' ? sqliteWords : postgresqlWords
  const run = (sql: string) => writer.$executeRawUnsafe(sql)
  const [tip] = await writer.$queryRawUnsafe<{ seq: bigint }[]>(
    'SELECT max("lastSeq") AS seq FROM commitments',
  )
  const firstSeq = Number(tip?.seq) + 1
  const slot = `(1 + i * ${slots} / ${rows})`
  const address = `'00' || ${words.hex(`(i % ${addresses}) * 2654435761 % 4294967296`, 64)}`
  const spread = words.hex('i * 2654435761 % 4294967296', 8)
  const slotBytes = `${words.hex(`${slot} % 256`, 2)} || ${words.hex(`${slot} / 256`, 2)} || '0000'`
  // Within a milestone, rows are in the order of their output ids, as the ledger writes them.
  const outputId = `${words.hex('i', 16)} || ${`${spread} || `.repeat(6)}${slotBytes} || '0000'`
  for (let from = 0; from < rows; from += rowsOfStep) {
    await run(`
      INSERT INTO ledger_updates
        (seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash", balance)
      SELECT ${firstSeq} + i, ${words.bytes(address)}, 0, 1 + i / ${addresses}, 1, ${slot},
        ${words.bytes(outputId)}, i % 2 = 0, ${words.bytes(Array(8).fill(spread).join(' || '))}, 1000000 + i
      FROM ${words.numbers(from, Math.min(from + rowsOfStep, rows) - 1)} ORDER BY i`)
  }
  // The positions of the later slots, which have no rows, start after all rows.
  const endOf = (count: string) =>
    `${firstSeq - 1} + (${count} * ${rows} + ${slots - 1}) / ${slots}`
  await run(`
    UPDATE commitments SET "firstSeq" = CASE WHEN slot > ${slots} THEN ${firstSeq + rows} ELSE ${endOf('(slot - 1)')} + 1 END,
      "lastSeq" = CASE WHEN slot > ${slots} THEN ${firstSeq + rows - 1} ELSE ${endOf('slot')} END
    WHERE slot > 0`)
  for (const sql of statementsToPublish(kind)) await run(sql)
  const contents = {
    block: words.bytes(`'${block}'`),
    from: firstSeq + rows - linkedRowsOfAddress * addresses,
  }
  await linkRows(run, contents)
  await run(kind === 'sqlite' ? 'ANALYZE' : 'VACUUM ANALYZE')
  if (kind === 'sqlite') await writer.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)')
  const network = await reader.network.findFirstOrThrow()
  const commitments = await reader.commitment.findMany({ orderBy: { slot: 'asc' } })
  await close()
  return {
    firstSeq,
    logId: bytesToHex(network.logId),
    branches: commitments.map(({ id }) => branchOf(idFromBytes(id))),
  }
}

/** Adds the output, the transaction and the block of each row from a position on. */
async function linkRows(
  run: (sql: string) => Promise<unknown>,
  { from, block }: { readonly from: number; readonly block: string },
): Promise<void> {
  const rows = `FROM ledger_updates WHERE seq >= ${from} ORDER BY "outputId"`
  const transactionId = 'substr("outputId", 1, 36)'
  // On SQLite, concatenating bytes results in a text.
  const blockId = 'substr("outputId", 3, 36)'
  const output = '(SELECT bytes FROM outputs ORDER BY length(bytes) LIMIT 1)'
  await run(`
    INSERT INTO outputs (id, bytes, "blockId", "bookedSlot", "spentSlot", "spentBy")
    SELECT "outputId", ${output}, ${blockId}, "milestoneIndex",
      CASE WHEN "isSpent" THEN "milestoneIndex" END, CASE WHEN "isSpent" THEN ${transactionId} END ${rows}`)
  await run(`
    INSERT INTO transactions (id, "blockId", slot, state)
    SELECT ${transactionId}, ${blockId}, "milestoneIndex", 'FINALIZED' ${rows}`)
  await run(`
    INSERT INTO blocks (id, inbox, slot, "issuerId", "issuingTime", bytes, "transactionId", state)
    SELECT ${blockId}, -seq, "milestoneIndex", "historyHash", 1700000000000000000 + seq, ${block},
      ${transactionId}, 'FINALIZED' ${rows}`)
}

/** The rows per statement; a longer statement needs much memory. */
const rowsOfStep = 500_000

const sqliteWords = {
  numbers: (first: number, last: number) =>
    `(WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last}) SELECT i FROM n)`,
  hex: (n: string, digits: number) => `printf('%0${digits}x', ${n})`,
  bytes: (hex: string) => `unhex(${hex})`,
}

const postgresqlWords = {
  numbers: (first: number, last: number) =>
    `generate_series(${first}::bigint, ${last}::bigint) AS numbers (i)`,
  hex: (n: string, digits: number) => `lpad(to_hex((${n})::bigint), ${digits}, '0')`,
  bytes: (hex: string) => `decode(${hex}, 'hex')`,
}
