import { blake2b } from '@noble/hashes/blake2.js'
import type { Client } from 'pg'
import { judgeLog, type RawRow, type ToldRow } from '../log-rows.ts'
import { withClient } from './lease.ts'
import type { Acknowledged } from './submitters.ts'

/** What the database holds in the end, read by the driver alone, against what was acknowledged. */

/** The log, and everything that is wrong. */
export interface Verdict {
  readonly rows: readonly ToldRow[]
  readonly faults: readonly string[]
}

/** Reads and judges. A payment with a coin that is `'MAYBE'` lost is judged only where the log has that coin. */
export function judgeDatabase(
  url: string,
  all: readonly Acknowledged[],
  areCoinsLost: 'NO' | 'MAYBE' = 'NO',
): Promise<Verdict> {
  return withClient(url, async (client) => {
    const raws = await logRows(client)
    const acknowledged = areCoinsLost === 'NO' ? all : withCoinsOf(raws, all)
    const { rows, faults } = judgeLog(raws)
    return {
      rows,
      faults: [
        ...faults,
        ...(await blockFaults(client, acknowledged)),
        ...(await transactionFaults(client, acknowledged)),
        ...bookingFaults(raws, acknowledged),
        ...(await commitmentFaults(client)),
      ],
    }
  })
}

/** The same blocks, without payments that spend what was never created. */
function withCoinsOf(raws: readonly RawRow[], acknowledged: readonly Acknowledged[]) {
  const coins = new Set(raws.map(({ outputId }) => `0x${outputId.toString('hex')}`))
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

/** Every acknowledged block is there, and final. */
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

/** Every output that an acknowledged payment created or spent has exactly one row for that. */
function bookingFaults(raws: readonly RawRow[], acknowledged: readonly Acknowledged[]): string[] {
  const counts = new Map<string, number>()
  for (const { outputId, isSpent, class: its } of raws) {
    // Those who own it; the others who are mentioned have rows of their own.
    if (its !== 0) continue
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

/** Every slot has one commitment, named by its hash, that names the one before. */
async function commitmentFaults(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ slot: string; id: Buffer; bytes: Buffer }>(
    'SELECT slot, id, bytes FROM commitments ORDER BY slot',
  )
  return rows.flatMap(({ slot, id, bytes }, i) => {
    const hash = Buffer.from(blake2b(bytes, { dkLen: 32 }))
    const index = Buffer.alloc(4)
    index.writeUInt32LE(Number(slot))
    const isNamed = Buffer.concat([hash, index]).equals(id)
    const former = rows[i - 1]
    // Behind the version (1 byte) and the slot (4 bytes) stands the id of the one before.
    const follows =
      former === undefined ||
      (Number(slot) === Number(former.slot) + 1 && bytes.subarray(5, 41).equals(former.id))
    return [
      ...(isNamed ? [] : [`commitment ${slot} is not named by its hash`]),
      ...(follows ? [] : [`commitment ${slot} does not follow`]),
    ]
  })
}
