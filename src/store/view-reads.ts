import { noBalance } from '../ledger/balances-of-address.ts'
import type { IndexKey } from '../ledger/index-keys.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts'
import { Output } from '../protocol/outputs.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { Client } from './client.ts'
import { toBalance, toOutput, toTokenBalance } from './mapping.ts'
import type { OutputRow } from './rows.ts'
import {
  balanceAsOf,
  rangesAsOf,
  richestAsOf,
  scanUnspent,
  tokensAsOf,
  type UnspentScan,
} from './sql/view-reads.ts'
import { classToNumber, idFromBytes } from './values.ts'
import type { UnspentFilter, UnspentQuery, ViewReader } from './view-contract.ts'

/** Reads of what is kept beside the log: balances, and which outputs are unspent. */
export function viewReads(client: Client): ViewReader {
  return {
    balance: async (address) => {
      const row = present(await balanceAsOf(client, address), 'genesis commitment')
      const kept = allPresent(row)
      return { slot: Number(row.asOf), balance: kept === undefined ? noBalance : toBalance(kept) }
    },
    tokenBalances: async (address, { after, limit }) => {
      const rows = await tokensAsOf(client, address, { after: after ?? '0x', limit })
      const tokens = rows.map(allPresent).filter((row) => row !== undefined)
      return {
        slot: slotOf(rows),
        tokens: tokens.map((row) => ({
          tokenId: idFromBytes(row.tokenId),
          balance: toTokenBalance(row),
        })),
      }
    },
    totalAt: (address, slot) => readTotalAt(client, address, slot),
    richestAddresses: async (limit) => {
      const rows = await richestAsOf(client, limit)
      const owners = rows.map(allPresent).filter((row) => row !== undefined)
      return {
        slot: slotOf(rows),
        owners: owners.map(({ address, total }) => ({ address: bytesToHex(address), total })),
      }
    },
    balanceRanges: async () => {
      const rows = await rangesAsOf(client)
      const ranges = rows.map(allPresent).filter((row) => row !== undefined)
      return {
        slot: slotOf(rows),
        ranges: ranges.map(({ exponent, addresses, total }) => ({
          exponent: Number(exponent),
          addresses: Number(addresses),
          total,
        })),
      }
    },
    unspentOutputs: (question) => readUnspent(client, question),
  }
}

/** A row of a left join; `undefined` where it found nothing. */
function allPresent<Row extends object>(
  row: Row,
): { [C in keyof Row]: Exclude<Row[C], null> } | undefined {
  if (Object.values(row).includes(null)) return undefined
  return row as { [C in keyof Row]: Exclude<Row[C], null> }
}

function slotOf(rows: readonly { readonly asOf: bigint }[]): SlotIndex {
  return Number(present(rows[0], 'genesis commitment').asOf)
}

/** The newest of two: the row of the log, and what an expiration did since. Both are index lookups. */
async function readTotalAt(
  client: Client,
  address: Hex,
  slot: SlotIndex,
): Promise<bigint | undefined> {
  const milestone = await client.commitment.findUnique({ where: { slot: BigInt(slot) } })
  if (milestone === null) return undefined
  const key = hexToBytes(address)
  const select = { milestoneIndex: true, balance: true } as const
  const owned = classToNumber('OWNED')
  const kept = await client.ledgerUpdate.findFirst({
    where: { address: key, class: owned, seq: { lte: milestone.lastSeq } },
    orderBy: { seq: 'desc' },
    select,
  })
  // Where the log was cut off the last row before is kept; of a slot before the cut nothing is known.
  // Not by `findUnique`: Prisma asks for all of a moment at once, and of pairs has too many parameters then.
  const where = { address: key, class: owned }
  const row = kept ?? (await client.prunedTip.findFirst({ where, select }))
  if (row !== null && row.milestoneIndex > milestone.slot) return undefined
  const transfer = await client.expirationTransfer.findFirst({
    where: { address: key, slot: { lte: milestone.slot } },
    orderBy: { slot: 'desc' },
  })
  if (transfer !== null && (row === null || row.milestoneIndex < transfer.slot)) {
    return transfer.total
  }
  return row === null ? 0n : present(row.balance, `the balance of ${address}`)
}

/** Runs a scan for each way in which an output can be meant, and merges them. */
async function readUnspent(client: Client, question: UnspentQuery): Promise<OutputRow[]> {
  const scans = scansOf(question)
  const found = await Promise.all(scans.map((scan) => scanUnspent(client, scan)))
  const rows = found.flat().map(toOutput)
  if (scans.length > 1) rows.sort(comparePlaces)
  const isFirst = (row: OutputRow, i: number) => row.outputId !== rows[i - 1]?.outputId
  return rows.filter(isFirst).slice(0, question.limit)
}

function scansOf({ filter, after, limit }: UnspentQuery): UnspentScan[] {
  const { heldBy, anyOf, keys = [], kinds = allKinds } = filter
  const scan = (by: UnspentScan['by'], also: readonly IndexKey[] = keys) => ({
    by,
    also,
    filter,
    after,
    limit,
  })
  if (heldBy !== undefined) {
    // Those that expire have a holder of their own.
    const plain = { ...scan({ kind: 'OWNER', value: heldBy }), filter: unexpiring(filter) }
    return [
      ...(filter.hasExpiration === true ? [] : [plain]),
      scan({ kind: 'STATE_CONTROLLER', value: heldBy }),
      scan({ kind: 'HOLDER', value: heldBy }),
    ]
  }
  if (anyOf !== undefined) return anyOf.map((term) => scan(term))
  const [first, ...rest] = keys
  if (first !== undefined) return [scan(first, rest)]
  return kinds.map((kind) => scan({ kind }))
}

function unexpiring(filter: UnspentFilter): UnspentFilter {
  return { ...filter, hasExpiration: false }
}

/** The type codes of outputs. */
const allKinds = Output.variants.map(({ code }) => code)

/** Lower-case hex compares like its bytes. */
function comparePlaces(a: OutputRow, b: OutputRow): number {
  if (a.bookedSlot !== b.bookedSlot) return a.bookedSlot - b.bookedSlot
  if (a.outputId === b.outputId) return 0
  return a.outputId < b.outputId ? -1 : 1
}
