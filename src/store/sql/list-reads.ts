import { resolutions } from '../../ledger/activity-buckets.ts'
import { outputCodes } from '../../protocol/outputs.ts'
import type { Between, BlockConditions, ListReader, PageOrder } from '../contract/list.ts'
import {
  type AddressTotal,
  type BlockRow,
  blockKinds,
  blockStates,
  type OutputRow,
  type TransactionRow,
} from '../rows.ts'
import { classToNumber, digits, kindToNumber } from '../values.ts'
import type { BulkColumn } from './bulk.ts'
import {
  addressTotals,
  blockIds,
  blocks,
  commitmentIds,
  commitmentSlots,
  commitments,
  listedUpdates,
  outputRows,
  transactionIds,
  transactions,
} from './bulk-tables.ts'
import { type KeysetScan, keysetPages, type ReadPages } from './keyset.ts'
import { publishedCommitments, publishedUpdates } from './published.ts'
import type { Reading } from './reading.ts'

/** Reads of lists, and of rows by many keys. */

const long = (name: string): BulkColumn => ({ name, type: 'long' })
const bytes = (name: string): BulkColumn => ({ name, type: 'bytes' })
const kind: BulkColumn = { name: 'kind', type: 'int' }
const state: BulkColumn = { name: 'state', type: 'text' }
const id = bytes('id')

export function listReads(reading: Reading) {
  return {
    ...blockPageReads(reading),
    ...transactionPageReads(reading),
    ...outputPageReads(reading),
    ...addressPageReads(reading),
    ...byKeyReads(reading),
  } satisfies Omit<ListReader, 'updatesAt'>
}

function byKeyReads(reading: Reading) {
  const { keyed } = reading
  const blocksById = keyed(blocks, blockIds)
  const transactionsById = keyed(transactions, transactionIds)
  const bySlot = keyed(commitments, commitmentSlots)
  const byCommitment = keyed(commitments, commitmentIds)

  return {
    entrySeqs: entrySeqsRead(reading),
    slotCounts: slotCountsRead(reading),
    blocks: (ids) => blocksById(ids.map((blockId) => ({ blockId }))),
    transactions: (ids) => transactionsById(ids.map((transactionId) => ({ transactionId }))),
    milestonesAt: (slots) => bySlot(slots.map((slot) => ({ slot }))),
    milestonesByCommitments: (ids) => byCommitment(ids.map((commitmentId) => ({ commitmentId }))),
  } satisfies Partial<ListReader>
}

/** Creates the read of the positions of entries of the log. Slot, address, class, output and spent flag identify an entry. */
function entrySeqsRead({ query, dialect }: Reading): ListReader['entrySeqs'] {
  // Neither a join nor single comparisons, for which PostgreSQL would scan the log or the milestone. The sum has no type affinity.
  // A value with an affinity would keep SQLite from using the last column of the index.
  const bound = (name: string) =>
    `(SELECT "${name}" FROM ${publishedCommitments('own')} WHERE slot = asked.slot) + 0`
  const place = '(found.address, found.class, found.seq)'
  const ofLog = `FROM ${publishedUpdates('found')}
      WHERE ${place} >= (asked.address, asked.class, ${bound('firstSeq')})
        AND ${place} <= (asked.address, asked.class, ${bound('lastSeq')})
        AND found."outputId" = asked."outputId" AND found."isSpent" = asked."isSpent"
      ORDER BY found.address, found.class, found.seq LIMIT 1`
  const ofEntry = {
    ...{ address: 'asked.address', class: 'asked.class' },
    ...{ first: bound('firstSeq'), last: bound('lastSeq') },
    ...{ outputId: 'asked."outputId"', isSpent: 'asked."isSpent"' },
  }
  const entries = `WITH asked AS (SELECT * FROM ${dialect.given(entryColumns)})
    SELECT n, (SELECT found.seq ${dialect.shards?.entry(ofEntry) ?? ofLog})
    FROM asked`

  return async (requests) => {
    if (requests.length === 0) return []
    const json = dialect.json(
      entryColumns,
      requests.map((one, n) => [
        ...[n, one.slot, digits(one.address), classToNumber(one.class)],
        ...[digits(one.outputId), one.isSpent],
      ]),
    )
    const seqByPlace = new Map((await query(entries, [json])).map(([n, seq]) => [Number(n), seq]))
    return requests.map((_one, n) => {
      const seq = seqByPlace.get(n)
      return seq == null ? undefined : Number(seq)
    })
  }
}

const entryColumns: readonly BulkColumn[] = [
  { name: 'n', type: 'int' },
  ...[long('slot'), bytes('address'), { name: 'class', type: 'int' } as const],
  ...[bytes('outputId'), { name: 'isSpent', type: 'boolean' } as const],
]

/** Creates the read of the numbers of blocks and transactions of slots. */
function slotCountsRead({ query, dialect }: Reading): ListReader['slotCounts'] {
  const columns = [long('slot')]
  const counted = (column: 'blocks' | 'accepted' | 'failed') =>
    `(SELECT ${column} FROM activity WHERE resolution = ${resolutions.indexOf('SLOT')} AND bucket = asked.slot)`
  // Accepted blocks and transactions are final once their slot is committed. Older slots have no stored counts, so their rows are counted.
  const counts = `WITH asked AS (SELECT * FROM ${dialect.given(columns)}) SELECT slot,
    coalesce(${counted('blocks')},
      (SELECT count(*) FROM blocks WHERE state = 'FINALIZED' AND kind IN (${blockKinds.map(kindToNumber)})
        AND blocks.slot = asked.slot)),
    coalesce(${counted('accepted')},
      (SELECT count(*) FROM transactions WHERE state = 'FINALIZED' AND transactions.slot = asked.slot)),
    ${counted('failed')}
    FROM asked`

  return async (slots) => {
    if (slots.length === 0) return []
    const json = dialect.json(
      columns,
      slots.map((slot) => [slot]),
    )
    const rows = await query(counts, [json])
    return rows.map(([slot, blocks, transactions, failed]) => ({
      slot: Number(slot),
      blocks: Number(blocks),
      transactions: Number(transactions),
      failed: failed === null ? undefined : Number(failed),
    }))
  }
}

function blockPageReads(reading: Reading) {
  const ofBlocks = {
    table: blocks,
    name: blocks.name,
    order: [long('slot'), { name: 'issuingTime', type: 'amount' }, long('inbox')],
    key: long('inbox'),
    positionOf: ({ slot, issuingTime, inbox }: BlockRow) => [slot, issuingTime, inbox],
  } as const
  const pages = {
    ALL: keysetPages(reading, { ...ofBlocks, equal: [] }),
    TRANSACTION: keysetPages(reading, { ...ofBlocks, equal: [bytes('transactionId')] }),
    ISSUER: keysetPages(reading, { ...ofBlocks, equal: [bytes('issuerId'), kind] }),
    STATE: keysetPages(reading, { ...ofBlocks, equal: [state, kind] }),
  }
  const children = keysetPages(reading, {
    table: blocks,
    name: 'block_parents',
    equal: [bytes('parent')],
    order: [long('inbox')],
    key: long('inbox'),
    positionOf: ({ inbox }) => [inbox],
  })

  return {
    blockPages: (requests, page) => readPages(requests, page, ({ where }) => partsOf(pages, where)),
    childPages: (requests, page) =>
      readPages(requests, page, ({ parent }) => ({ read: children, equals: [[parent]] })),
  } satisfies Partial<ListReader>
}

/** Returns the index that fits the conditions, and the ranges of it that make up the list: one for each kind and state. */
function partsOf<P>(
  pages: Readonly<Record<'ALL' | 'TRANSACTION' | 'ISSUER' | 'STATE', P>>,
  { transactionId, issuerId, states, kinds }: BlockConditions,
) {
  const numbers = (kinds ?? blockKinds).map(kindToNumber)
  if (transactionId !== undefined) return { read: pages.TRANSACTION, equals: [[transactionId]] }
  if (issuerId !== undefined) {
    return { read: pages.ISSUER, equals: numbers.map((number) => [issuerId, number]) }
  }
  if (states === undefined && kinds === undefined) return { read: pages.ALL, equals: [[]] }
  const equals = (states ?? blockStates).flatMap((one) => numbers.map((number) => [one, number]))
  return { read: pages.STATE, equals }
}

function transactionPageReads(reading: Reading) {
  const ofTransactions = {
    table: transactions,
    name: transactions.name,
    order: [long('slot'), id],
    key: id,
    positionOf: ({ slot, transactionId }: TransactionRow) => [slot, transactionId],
  }
  const entries = keysetPages(reading, {
    table: listedUpdates,
    name: listedUpdates.name,
    equal: [bytes('address'), { name: 'class', type: 'int' }],
    order: [long('seq')],
    key: long('seq'),
    only: 'isLastOfTransaction',
    positionOf: ({ seq }) => [seq],
  })
  const all = keysetPages(reading, { ...ofTransactions, equal: [] })
  const ofState = keysetPages(reading, { ...ofTransactions, equal: [state] })

  return {
    transactionEntryPages: (requests, page) =>
      readPages(requests, page, ({ address, class: updateClass }) => ({
        read: entries,
        equals: [[address, classToNumber(updateClass)]],
      })),
    transactionPages: (requests, page) =>
      readPages(requests, page, ({ state }) =>
        state === undefined ? { read: all, equals: [[]] } : { read: ofState, equals: [[state]] },
      ),
  } satisfies Partial<ListReader>
}

function outputPageReads(reading: Reading) {
  const ofOutputs = { table: outputRows, name: outputRows.name, key: id }
  const booked = keysetPages(reading, {
    ...ofOutputs,
    equal: [kind],
    order: [long('bookedSlot'), id],
    positionOf: ({ bookedSlot, outputId }: OutputRow) => [bookedSlot, outputId],
  })
  const spent = keysetPages(reading, {
    ...ofOutputs,
    equal: [],
    order: [long('spentSlot'), id],
    positionOf: ({ spentSlot = 0, outputId }: OutputRow) => [spentSlot, outputId],
  })

  return {
    outputPages: (requests, page) =>
      readPages(requests, page, ({ where }) =>
        where === 'SPENT'
          ? { read: spent, equals: [[]] }
          : {
              read: booked,
              equals: [...new Set(where.kinds ?? outputCodes)].map((code) => [code]),
            },
      ),
  } satisfies Partial<ListReader>
}

function addressPageReads(reading: Reading) {
  const read = keysetPages(reading, {
    table: addressTotals,
    name: addressTotals.name,
    equal: [],
    order: [{ name: 'total', type: 'amount' }, bytes('address')],
    key: bytes('address'),
    positionOf: ({ address, total }: AddressTotal) => [total, address],
  })
  return {
    addressPages: (requests, page) => readPages(requests, page, () => ({ read, equals: [[]] })),
  } satisfies Partial<ListReader>
}

/** Reads the pages of each index together, and returns all pages in the order of the requests. */
async function readPages<A extends Between, Row>(
  requests: readonly A[],
  page: PageOrder,
  partsOf: (one: A) => { read: ReadPages<Row>; equals: KeysetScan['equal'][] },
): Promise<Row[][]> {
  const scansByRead = new Map<ReadPages<Row>, KeysetScan[]>()
  for (const [i, one] of requests.entries()) {
    const { read, equals } = partsOf(one)
    const { above, below } = one
    const scans = scansByRead.get(read) ?? []
    scansByRead.set(read, scans)
    scans.push(...equals.map((equal) => ({ page: i, equal, above, below })))
  }
  const pages: Row[][] = requests.map(() => [])
  for (const [read, scans] of scansByRead) {
    for (const [i, rows] of await read(scans, page)) pages[i] = rows
  }
  return pages
}
