import { blake2b } from '@noble/hashes/blake2.js'
import type { Client } from 'pg'
import { checkLog, type ExpectedRow, type RawRow } from '../log-rows.ts'
import { withClient } from './lease.ts'
import type { Acknowledged } from './submitters.ts'

/** Compares the database at the end of a run with the acknowledged blocks, without code of the gateway. */

/** The rows of the log, and all differences. */
export interface DatabaseCheck {
  readonly rows: readonly ExpectedRow[]
  readonly faults: readonly string[]
}

/** Checks the database. If losses are `'POSSIBLE'`, payments that spend an output that is not in the log are not checked. */
export function checkDatabase(
  url: string,
  all: readonly Acknowledged[],
  losses: 'NONE' | 'POSSIBLE' = 'NONE',
): Promise<DatabaseCheck> {
  return withClient(url, async (client) => {
    const table = await logRows(client)
    const acknowledged = losses === 'NONE' ? all : withoutLostPayments(table, all)
    const { rows, faults } = checkLog(table)
    return {
      rows,
      faults: [
        ...faults,
        ...(await blockFaults(client, acknowledged)),
        ...(await transactionFaults(client, acknowledged)),
        ...bookingFaults(table, acknowledged),
        ...(await commitmentFaults(client)),
      ],
    }
  })
}

/** Returns the same blocks, without the payments whose spent output is not in the log. */
function withoutLostPayments(table: readonly RawRow[], acknowledged: readonly Acknowledged[]) {
  const coins = new Set(table.map(({ outputId }) => `0x${outputId.toString('hex')}`))
  return acknowledged.map((one) =>
    one.payment !== undefined && coins.has(one.payment.spent)
      ? one
      : { ...one, payment: undefined },
  )
}

async function logRows(client: Client): Promise<RawRow[]> {
  const { rows } = await client.query<
    Omit<RawRow, 'seq' | 'ordinal' | 'milestoneIndex'> & {
      readonly seq: string
      readonly ordinal: string
      readonly milestoneIndex: string
    }
  >('SELECT * FROM ledger_updates ORDER BY seq')
  return rows.map((row) => ({
    ...row,
    seq: Number(row.seq),
    ordinal: Number(row.ordinal),
    milestoneIndex: Number(row.milestoneIndex),
  }))
}

/** Returns the acknowledged blocks that are missing or not final. */
async function blockFaults(
  client: Client,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const states = await statesIn(client, 'blocks')
  return acknowledged.flatMap(({ blockId }) => {
    const state = states.get(blockId)
    return state === 'FINALIZED' ? [] : [`block ${blockId} is ${state ?? 'lost'}`]
  })
}

async function transactionFaults(
  client: Client,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const states = await statesIn(client, 'transactions')
  return acknowledged.flatMap(({ payment }) => {
    if (payment === undefined) return []
    const state = states.get(payment.transactionId)
    return state === 'FINALIZED'
      ? []
      : [`transaction ${payment.transactionId} is ${state ?? 'lost'}`]
  })
}

async function statesIn(
  client: Client,
  table: 'blocks' | 'transactions',
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: Buffer; state: string }>(
    `SELECT id, state FROM ${table}`,
  )
  return new Map(rows.map(({ id, state }) => [`0x${id.toString('hex')}`, state]))
}

/** Returns the outputs of acknowledged payments whose creation or spending does not have exactly one row in the log. */
function bookingFaults(table: readonly RawRow[], acknowledged: readonly Acknowledged[]): string[] {
  const counts = new Map<string, number>()
  for (const { outputId, isSpent, class: updateClass } of table) {
    // Counts the rows of owners. Mentioned addresses have rows of their own.
    if (updateClass !== 0) continue
    const key = `0x${outputId.toString('hex')} ${isSpent}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return acknowledged.flatMap(({ payment }) => {
    if (payment === undefined) return []
    const keys = [`${payment.spent} true`, ...payment.created.map((id) => `${id} false`)]
    return keys
      .filter((key) => counts.get(key) !== 1)
      .map((key) => `${key} is booked ${counts.get(key) ?? 0} times`)
  })
}

/** Returns the commitments whose id is not their hash, or that do not reference the commitment of the slot before. */
async function commitmentFaults(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ slot: string; id: Buffer; bytes: Buffer }>(
    'SELECT slot, id, bytes FROM commitments ORDER BY slot',
  )
  return rows.flatMap(({ slot, id, bytes }, i) => {
    const hash = Buffer.from(blake2b(bytes, { dkLen: 32 }))
    const index = Buffer.alloc(4)
    index.writeUInt32LE(Number(slot))
    const isIdCorrect = Buffer.concat([hash, index]).equals(id)
    const former = rows[i - 1]
    // The id of the previous commitment comes after the version (1 byte) and the slot (4 bytes).
    const follows =
      former === undefined ||
      (Number(slot) === Number(former.slot) + 1 && bytes.subarray(5, 41).equals(former.id))
    return [
      ...(isIdCorrect ? [] : [`the id of commitment ${slot} is not its hash`]),
      ...(follows ? [] : [`commitment ${slot} does not continue the one before`]),
    ]
  })
}
