import { present } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Rows } from '../database.ts'
import type { AddressPage, AddressPageQuery } from '../rows.ts'
import { classToNumber, noBranch } from '../values.ts'
import { createBranchMemory, type KnownBranches } from './branch-memory.ts'
import { hexOfText } from './columns.ts'
import { missingPart, partitionWith, startOf, undefinedIfDropped } from './log-partitions.ts'
import { branchOfId, tipOf } from './log-tip.ts'
import { logTable } from './published.ts'
import type { Reading } from './reading.ts'
import type { LogPartition } from './statements.ts'
import { quoted } from './tables.ts'
import { isFirstOfAddress, updateOf } from './update-rows.ts'
import type { LogTexts, PageHeads } from './update-texts.ts'

/**
 * Pages of the log of an address, each in one statement. A page takes the branches of its rows from a cache, because reading them takes a
 * quarter of the time of the statement.
 */

/** Creates the read of a page with its count, the facts about its cursors, and the tip, in one snapshot. */
export function addressPageRead(
  reading: Reading,
  texts: LogTexts,
): (request: AddressPageQuery) => Promise<AddressPage> {
  const source = { reading, texts }
  const memory = createBranchMemory()
  const complete = branchCompletion(reading)

  return async function page(request) {
    const { address, class: updateClass } = request
    const known = memory.known()
    const { head, rows } =
      (await readPartitions(source, request, known.slot)) ??
      (await readLog(source, request, known.slot))
    const { foundBranch, ...rest } = head
    const branches = memory.settle(known, foundBranch, head.tip)
    // The database was replaced by one of another history between the two statements.
    if (!(await complete(branches, rows, known.slot))) return await page(request)
    return {
      ...rest,
      rows: rows.map((row) =>
        updateOf(
          row,
          address,
          updateClass,
          present(branches.bySlot.get(Number(row[3])), 'a branch'),
        ),
      ),
    }
  }
}

interface PageSource {
  readonly reading: Reading
  readonly texts: LogTexts
}

async function readLog(
  source: PageSource,
  request: AddressPageQuery,
  knownSlot: SlotIndex,
): Promise<FoundPage> {
  const target = { heads: source.texts.heads(), table: logTable, knownSlot }
  return foundPage(await readFrom(source, request, target))
}

/**
 * Reads a page from the partition where it begins, and its count from the newest partition. Resolves to `undefined` if these two do not
 * have the whole page and count.
 */
async function readPartitions(
  source: PageSource,
  request: AddressPageQuery,
  knownSlot: SlotIndex,
): Promise<FoundPage | undefined> {
  const { logForms } = source.reading
  const partition = partitionWith(logForms, startOf(logForms, request))
  const newest = partitionWith(logForms, logForms?.form().seq ?? 0)
  if (partition === undefined || newest === undefined) return undefined
  const table = quoted(partition.name)
  const heads = source.texts.heads({ newest: quoted(newest.name), page: table })
  const found = await undefinedIfDropped(readFrom(source, request, { heads, table, knownSlot }))
  if (found === undefined) return undefined
  const { head, rows } = foundPage(found)
  const tip = head.tip.seq
  const isCounted = tip < newest.to && head.count >= 0
  const missing = missingPart(request, {
    ...{ partition, tip, rows, isFirst: isFirstOfAddress },
    prunedSeq: head.tip.prunedSeq,
  })
  if (!isCounted || missing !== undefined) return undefined
  return head.hasRowsBehind || hasNoneBehind(request, partition, { head, rows })
    ? { head, rows }
    : undefined
}

interface PageTarget {
  readonly heads: PageHeads
  readonly table: string
  readonly knownSlot: SlotIndex
}

function readFrom(
  { reading: { queryBoth }, texts }: PageSource,
  { address, class: updateClass, order, cursors, after, before, limit }: AddressPageQuery,
  { heads, table, knownSlot }: PageTarget,
): Promise<Rows> {
  const key = [hexToBytes(address), classToNumber(updateClass)]
  const parameters = [...key, after, before, limit, knownSlot]
  const scan = texts.of(table)[order].ofPage
  return cursors === undefined
    ? queryBoth(heads.plain, scan, parameters)
    : queryBoth(heads.atCursors, scan, [...parameters, ...cursors.behind, ...cursors.seqs])
}

/**
 * Returns a function that reads the missing branches of rows into the cache. It trusts cached branches up to `upTo`, the slot that the
 * page has verified: concurrent reads may have added later branches, of another history. It resolves to `false` if the database has
 * another history than the rows.
 */
function branchCompletion({ query, dialect }: Reading) {
  const branchesOf = `SELECT slot, ${branchOfId(dialect)} FROM commitments
    WHERE slot IN (SELECT slot FROM ${dialect.given([slotColumn])})`

  return async (known: KnownBranches, rows: Rows, upTo: SlotIndex): Promise<boolean> => {
    const missing = new Set<number>()
    for (const row of rows) {
      const slot = Number(row[3])
      const isProved = slot <= upTo || slot === known.slot
      if (!isProved || !known.bySlot.has(slot)) missing.add(slot)
    }
    if (missing.size === 0) return true
    const slots = [...missing, known.slot].map((slot) => [slot])
    const found = await query(branchesOf, [dialect.json([slotColumn], slots)])
    const read = found.map(([slot, branch]) => [Number(slot), hexOfText(branch)] as const)
    if (!read.some(([slot, branch]) => slot === known.slot && branch === known.branch)) return false
    for (const [slot, branch] of read) known.bySlot.set(slot, branch)
    return true
  }
}

const slotColumn = { name: 'slot', type: 'int' } as const

interface FoundPage {
  readonly head: PageHead
  readonly rows: Rows
}

function foundPage([first, ...rows]: Rows): FoundPage {
  return { head: headOf(first), rows }
}

/** Whether the page and its partition prove that no row lies behind the beginning of the page. */
function hasNoneBehind(
  { cursors, order }: AddressPageQuery,
  { from, to }: LogPartition,
  { head, rows }: FoundPage,
): boolean {
  const [first, last] = cursors?.behind ?? [1, 0]
  if (first > last || (first >= from && last < to)) return true
  const [row] = rows
  if (row === undefined) return false
  return order === 'ascending' ? isFirstOfAddress(row) : Number(row[1]) === head.count
}

/** First row of the result of a page: the page without its rows, and the branch of the slot that verifies the cached branches. */
interface PageHead extends Omit<AddressPage, 'rows'> {
  readonly foundBranch: Hex
}

/** Converts a row whose values are in the order of `headColumns`. */
function headOf(head: readonly unknown[] | undefined): PageHead {
  const values = present(head, 'genesis commitment')
  const [seq, prunedSeq, count, slot, isBehind, logId, commitmentId, texts] = values
  const branches = String(texts).match(branchText) ?? []
  const [prunedBranch, branch, foundBranch, ...ofCursors] = branches
  return {
    tip: tipOf({ seq, slot, prunedSeq, logId, commitmentId, branch, prunedBranch }),
    count: Number(count),
    hasRowsBehind: Boolean(isBehind),
    branches: ofCursors.map(hexOfText),
    foundBranch: hexOfText(foundBranch),
  }
}

const branchText = new RegExp(`.{${noBranch.length}}`, 'g')
