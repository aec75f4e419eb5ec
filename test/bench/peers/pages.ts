import { addressBytes } from './address.ts'
import { hexOf, latest, prepare } from './rows.ts'
import { milestoneTimestamp } from './serve.ts'

/** Pages of the log in the form of the gateway's responses, for bare `node:http` and Mercurius. */

/** A requested page, newest first; `after` is a position in the log. */
export interface Question {
  /** The address in Bech32. */
  readonly address: string
  readonly first: number
  readonly after?: string | null | undefined
}

const rowsBefore = prepare(
  'seq, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash", balance',
)
const ordinalBefore = prepare('ordinal')

/** The GraphQL page of an address. */
export async function pageOf({ address, first, after }: Question): Promise<object> {
  const key = addressBytes(address)
  // Reads one more row to find out whether there are more.
  const found = await rowsBefore(key, Number(after ?? latest), first + 1)
  const rows = found.slice(0, first)
  const newest = Number(rows[0]?.[1] ?? 0)
  // Ordinals are consecutive from 1, so the ordinal of the newest row is the number of rows.
  const total = after == null ? newest : Number((await ordinalBefore(key, latest, 1))[0]?.[0] ?? 0)
  const cursors = rows.map(([seq]) => String(seq))
  return {
    totalCount: String(total),
    pageInfo: {
      hasNextPage: found.length > first,
      hasPreviousPage: newest < total,
      startCursor: cursors[0] ?? null,
      endCursor: cursors.at(-1) ?? null,
    },
    nodes: rows.map((row, i) => nodeOf(row, address, cursors[i])),
  }
}

function nodeOf(row: readonly unknown[], address: string, cursor: string | undefined): object {
  const [, ordinal, roles, milestoneIndex, outputId, isSpent, historyHash, balance] = row
  return {
    cursor,
    seq: cursor,
    ordinal: String(ordinal),
    address,
    class: 'OWNED',
    roles: rolesOf(Number(roles)),
    outputId: hexOf(outputId),
    isSpent: Boolean(isSpent),
    milestoneIndex: Number(milestoneIndex),
    milestoneTimestamp: milestoneTimestamp(Number(milestoneIndex)),
    balance: balance === null ? null : String(balance),
    historyHash: hexOf(historyHash),
  }
}

/** The names of a bit mask. */
export function rolesOf(mask: number): string[] {
  return roleNames.filter((_name, bit) => (mask & (1 << bit)) !== 0)
}

const roleNames = [
  'OWNER',
  'STATE_CONTROLLER',
  'GOVERNOR',
  'STORAGE_DEPOSIT_RETURN',
  'EXPIRATION_RETURN',
  'SENDER',
  'ISSUER',
  'VALIDATOR',
  'MULTI_MEMBER',
  'RESTRICTED_INNER',
]

const listBefore = prepare('seq, "milestoneIndex", "outputId", "isSpent"')

/** The REST page of an address. */
export async function listOf({ address, first, after }: Question): Promise<object> {
  const found = await listBefore(addressBytes(address), Number(after ?? latest), first + 1)
  const rows = found.slice(0, first)
  const items = rows.map(([, milestoneIndex, outputId, isSpent]) => ({
    outputId: hexOf(outputId),
    isSpent: Boolean(isSpent),
    milestoneIndex: Number(milestoneIndex),
    milestoneTimestamp: milestoneTimestamp(Number(milestoneIndex)),
  }))
  return { address, items, cursor: found.length > first ? String(rows.at(-1)?.[0]) : undefined }
}
