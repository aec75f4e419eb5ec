import type { IndexKind } from '../../ledger/index-keys.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { Position } from '../contract/list.ts'
import type { MultiReader } from '../contract/multi.ts'
import { indexKindToNumber } from '../values.ts'
import { jsonOf } from './bulk.ts'
import { indexValues, outputRows } from './bulk-tables.ts'
import { hexOfText } from './columns.ts'
import { publishedSlot } from './published.ts'
import { both, type Reading } from './reading.ts'

/** Reads of multi addresses, from the index of unspent outputs. */
export function multiReads({ query, rows, dialect }: Reading): MultiReader {
  const pairs = both((direction) => pairsText(dialect.hex('value'), direction))
  const firstOf = (kind: IndexKind) =>
    `(SELECT own."outputId" FROM index_keys AS own
      WHERE own.kind = ${indexKindToNumber(kind)} AND own.value = given.value
      ORDER BY own."bookedSlot", own."outputId" LIMIT 1)`
  const naming = rows(
    outputRows,
    `WHERE id IN (SELECT coalesce(${namingKinds.map(firstOf).join(', ')})
      FROM ${dialect.given(indexValues.columns)})`,
  )

  return {
    multisOfMember: async (member, part, { order, limit }) => {
      const pairAt = ([reference]: Position) => hexToBytes(`${member}${String(reference).slice(2)}`)
      const parameters = [pairAt(part.above), pairAt(part.below), limit]
      const found = await query(pairs[order], parameters)
      return found.map(([pair]) => hexOfText(`0x${String(pair).slice(member.length)}`))
    },
    outputsNamingMultis: (references) =>
      naming(
        jsonOf(
          dialect,
          indexValues,
          references.map((value) => ({ value })),
        ),
      ),
  }
}

/** The kinds of index keys of which an output has at least one for each multi address that it names. */
const namingKinds = [
  'HOLDER',
  'EXPIRING_OWNER',
  'EXPIRATION_RETURN',
  'STORAGE_DEPOSIT_RETURN',
  'GOVERNOR',
  'SENDER',
  'ISSUER',
  'RESTRICTED_INNER',
] as const satisfies readonly IndexKind[]

/**
 * Steps from pair to pair of a member and its multi address, because any number of outputs may have the same. A step passes the outputs
 * that are booked and not committed.
 */
function pairsText(hexOfValue: string, direction: 'ASC' | 'DESC'): string {
  const [from, to, further, within] =
    direction === 'ASC' ? ['?1', '?2', '>', '<'] : ['?2', '?1', '<', '>']
  const next = (place: string) =>
    `(SELECT own.value FROM index_keys AS own
      WHERE own.kind = ${indexKindToNumber('MULTI_OF_MEMBER')} AND own.value ${further} ${place}
        AND own."bookedSlot" <= ${publishedSlot}
      ORDER BY own.kind ${direction}, own.value ${direction} LIMIT 1)`
  return `WITH RECURSIVE found (value, place) AS (
      SELECT ${next(from)}, 1
      UNION ALL
      SELECT ${next('found.value')}, found.place + 1 FROM found
      WHERE found.value ${within} ${to} AND found.place < ?3
    )
    SELECT ${hexOfValue} FROM found WHERE value ${within} ${to} ORDER BY place`
}
