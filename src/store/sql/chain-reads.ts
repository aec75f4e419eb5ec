import type { IndexKey } from '../../ledger/index-keys.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { AliveChainsQuery, ChainReader } from '../contract/chain.ts'
import { type Dialect, jsonOf } from './bulk.ts'
import { chainIds, chainStates, outputRows, tokenHolders } from './bulk-tables.ts'
import { hexOfText, selected } from './columns.ts'
import { publishedSlot } from './published.ts'
import { both, boundsOf, type Reading } from './reading.ts'
import { keyParameters } from './unspent-scans.ts'

/** Reads of chains, their states, and holders of native tokens. Each read is one statement. */
export function chainReads(reading: Reading): ChainReader {
  const { query, rows, dialect } = reading
  const newest = newestText(dialect)
  const statesIn = both((direction) =>
    rows(
      chainStates,
      `WHERE "chainId" = ? AND ordinal > ? AND ordinal < ? ORDER BY ordinal ${direction} LIMIT ?`,
    ),
  )
  // Qualified with the table: the bare names are those of the selected texts, which no index has.
  const holders = both((direction) =>
    rows(
      tokenHolders,
      `WHERE "tokenId" = ? AND (total, address) > (?, ?) AND (total, address) < (?, ?)
        ORDER BY token_balances.total ${direction}, token_balances.address ${direction} LIMIT ?`,
    ),
  )
  const idsWithin = idsWithinText(dialect.hex('id'))

  return {
    newestChainStates: async (ids) => {
      if (ids.length === 0) return []
      const given = ids.map((chainId) => ({ chainId }))
      const found = await query(newest, [jsonOf(dialect, chainIds, given)])
      return found.map(([slot, ...values]) => ({
        ...chainStates.rowOf(values),
        slot: Number(slot),
        output: outputRows.rowOf(values.slice(chainStates.columns.length)),
      }))
    },
    chainStates: (chainId, part, { order, limit }) =>
      statesIn[order](hexToBytes(chainId), ...boundsOf(part), limit),
    chainIdsWithin: async ({ from, to, limit }) => {
      const found = await query(idsWithin, [hexToBytes(from), hexToBytes(to), limit])
      return found.map(([id]) => hexOfText(id))
    },
    aliveChains: aliveChainsRead(reading),
    tokenHolders: async (tokenId, part, { order, limit }) => {
      const found = await holders[order](hexToBytes(tokenId), ...boundsOf(part), limit)
      return found.map(({ address, total }) => ({ address, total: BigInt(total) }))
    },
  }
}

/** A join and not IN, for which SQLite reads all states of a chain. */
function newestText(dialect: Dialect): string {
  return `SELECT ${publishedSlot}, ${selected(dialect, chainStates)}, ${selected(dialect, outputRows)}
    FROM ${dialect.given(chainIds.columns)}
    JOIN chain_states ON chain_states."chainId" = given."chainId" AND chain_states.ordinal = (
      SELECT max(own.ordinal) FROM chain_states AS own WHERE own."chainId" = given."chainId")
    JOIN outputs ON outputs.id = chain_states."outputId"`
}

/** Steps from chain id to chain id, because a chain may have any number of states. */
function idsWithinText(hexOfId: string): string {
  const nextId = (condition: string) =>
    `(SELECT next."chainId" FROM chain_states AS next WHERE next."chainId" ${condition}
      ORDER BY next."chainId" LIMIT 1)`
  return `WITH RECURSIVE found (id, place) AS (
      SELECT ${nextId('>= ?1')}, 1
      UNION ALL
      SELECT ${nextId('> found.id')}, found.place + 1 FROM found
      WHERE found.id <= ?2 AND found.place < ?3
    )
    SELECT ${hexOfId} FROM found WHERE id <= ?2 ORDER BY place`
}

function aliveChainsRead({ query, dialect }: Reading): ChainReader['aliveChains'] {
  const columns = selected(dialect, outputRows)
  const textBy = new Map<string, string>()
  /** Caches the texts: there are few forms, and each text is long. */
  function textOf({ keys, order }: AliveChainsQuery): string {
    const isOfKind = impliesKind(keys)
    const form = `${keys.length} ${isOfKind} ${order}`
    return getOrInsert(textBy, form, () =>
      aliveText({ columns, keys: keys.length, isOfKind, order }),
    )
  }

  return async (request) => {
    const { kind, keys, limit } = request
    const ofKeys = keys.flatMap(keyParameters)
    const parameters = [
      ...(impliesKind(keys) ? ofKeys : [kind, ...ofKeys]),
      ...boundsOf(request),
      limit,
    ]
    return (await query(textOf(request), parameters)).map(outputRows.rowOf)
  }
}

/** Whether only one kind of chain has the first key. */
function impliesKind([first]: readonly IndexKey[]): boolean {
  return first?.kind === 'CHAIN_HOLDER'
}

interface AliveShape extends Pick<AliveChainsQuery, 'order'> {
  readonly columns: string
  /** Number of index keys. */
  readonly keys: number
  /** Whether the first key implies the kind. */
  readonly isOfKind: boolean
}

/** SQLite runs cross joins in the order written. So the first table is the one whose index has the order of the result. */
function aliveText({ columns, keys, isOfKind, order }: AliveShape): string {
  const direction = order === 'ascending' ? 'ASC' : 'DESC'
  const [first, ...others] = Array.from({ length: keys }, (_, n) => `key${n}`)
  const place = first ?? 'unspent'
  const tables = [
    ...(first === undefined ? [] : [`index_keys AS ${first}`]),
    ...(isOfKind ? [] : ['unspent_outputs AS unspent']),
    'outputs',
  ]
  const conditions = [
    ...(isOfKind ? [] : ['unspent.kind = ?']),
    ...(first === undefined ? [] : [`${first}.kind = ? AND ${first}.value = ?`]),
    ...(first === undefined || isOfKind ? [] : [`unspent."outputId" = ${first}."outputId"`]),
    ...others.map(
      (
        name,
      ) => `EXISTS (SELECT 1 FROM index_keys AS ${name} WHERE ${name}.kind = ? AND ${name}.value = ?
        AND ${name}."bookedSlot" = ${place}."bookedSlot" AND ${name}."outputId" = ${place}."outputId")`,
    ),
    `outputs.id = ${place}."outputId"`,
    `(${place}."bookedSlot", ${place}."outputId") > (?, ?)`,
    `(${place}."bookedSlot", ${place}."outputId") < (?, ?)`,
    // Outputs booked after the newest milestone are not part of it. Outputs spent after it still are.
    `${place}."bookedSlot" <= ${publishedSlot}`,
  ]
  return `SELECT ${columns} FROM ${tables.join(' CROSS JOIN ')} WHERE ${conditions.join(' AND ')}
    ORDER BY ${place}."bookedSlot" ${direction}, ${place}."outputId" ${direction} LIMIT ?`
}
