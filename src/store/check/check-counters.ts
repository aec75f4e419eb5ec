import type { ActivityBucket } from '../../ledger/activity.ts'
import { sumActivity } from '../../ledger/activity.ts'
import { firstSlotOfBucket, resolutions } from '../../ledger/activity-buckets.ts'
import { rangeMoves } from '../../ledger/balance-ranges.ts'
import { noBalance } from '../../ledger/balances-of-address.ts'
import { bytesToHex } from '../../lib/hex.ts'
import { runToCompletion } from '../../lib/turns.ts'
import { activity } from '../sql/bulk-tables.ts'
import type { Writing } from '../sql/statements.ts'
import { activityOfRow, activityOfSlots } from '../write/activity.ts'
import { isRetained, movesOf, readRetainedLog, uncountedSlots } from '../write/fill-activity.ts'
import { prunableSlots } from '../write/prune-blocks.ts'
import { balanceRows, type NewestSlot } from './check-balances.ts'
import { type CheckReport, isSame, maxFindings } from './findings.ts'

/** Checks counters and indexes against the rows that they summarise. */

/** Checks the index of unspent outputs, their counts, balance ranges and chain states. The database computes the differences. */
export async function checkCounts(
  { tx, sql }: Writing,
  { parameters, slot }: NewestSlot,
  report: CheckReport,
): Promise<void> {
  const select = <Row>(text: string, ...parameters: readonly bigint[]) =>
    tx.$queryRawUnsafe<Row[]>(sql.numbered(text), ...parameters)
  const at = BigInt(slot)
  const unspent = await select<{ id: Uint8Array }>(
    `SELECT outputs.id FROM outputs LEFT JOIN unspent_outputs AS own ON own."outputId" = outputs.id
    WHERE (outputs."spentSlot" IS NULL OR outputs."spentSlot" > ?) AND (own."outputId" IS NULL
      OR own.kind <> outputs.kind OR own."bookedSlot" <> outputs."bookedSlot")
    UNION ALL SELECT own."outputId" FROM unspent_outputs AS own LEFT JOIN outputs ON outputs.id = own."outputId"
    WHERE outputs.id IS NULL OR outputs."spentSlot" <= ? LIMIT ?`,
    at,
    at,
    maxFindings,
  )
  for (const { id } of unspent) report.found('UNSPENT_OUTPUT_WRONG', bytesToHex(id))
  const counts = await select<{ kind: bigint }>(
    `SELECT coalesce(counted.kind, kept.kind) AS kind FROM (SELECT CAST(kind AS BIGINT) AS kind, count(*) AS outputs FROM outputs
      WHERE "bookedSlot" <= ? AND ("spentSlot" IS NULL OR "spentSlot" > ?) GROUP BY kind) AS counted
    FULL JOIN output_counts AS kept ON kept.kind = counted.kind
    WHERE coalesce(counted.outputs, 0) <> coalesce(kept.outputs, 0)`,
    at,
    at,
  )
  for (const { kind } of counts) report.found('OUTPUT_COUNT_WRONG', `output type ${kind}`)
  // A ledger that begins with a snapshot has only the last state of a chain before it.
  const first = await tx.commitment.findFirst({ orderBy: { slot: 'asc' }, select: { slot: true } })
  const isWhole = Number(first?.slot) === parameters.genesisSlot
  const before = isWhole ? '0' : 'min(ordinal) - 1'
  const chains = await select<{ id: Uint8Array }>(
    `SELECT "chainId" AS id FROM chain_states GROUP BY "chainId" HAVING max(ordinal) - (${before}) <> count(*)
    UNION SELECT state."chainId" FROM chain_states AS state LEFT JOIN outputs ON outputs.id = state."outputId"
    WHERE outputs.id IS NULL OR outputs."bookedSlot" <> state."bookedSlot" LIMIT ?`,
    maxFindings,
  )
  for (const { id } of chains) report.found('CHAIN_STATE_WRONG', `chain ${bytesToHex(id)}`)
  await checkRanges({ tx, sql }, report)
}

async function checkRanges(reading: Writing, report: CheckReport): Promise<void> {
  const ranges = new Map<number, { addresses: number; total: bigint }>()
  for await (const rows of balanceRows(reading)) {
    const owned = rows.map(({ address, total }) => {
      return [bytesToHex(address), { ...noBalance, available: total }] as const
    })
    for (const { exponent, addresses, total } of runToCompletion(
      rangeMoves(new Map(), new Map(owned)),
    )) {
      const former = ranges.get(exponent) ?? { addresses: 0, total: 0n }
      const sum = { addresses: former.addresses + addresses, total: former.total + total }
      ranges.set(exponent, sum)
    }
  }
  for (const { exponent, addresses, total } of await reading.tx.balanceRange.findMany()) {
    const own = ranges.get(Number(exponent))
    if (own?.addresses !== Number(addresses) || own.total !== total) {
      report.found('BALANCE_RANGE_WRONG', `10 ^ ${exponent}`)
    }
    ranges.delete(Number(exponent))
  }
  for (const exponent of ranges.keys()) report.found('BALANCE_RANGE_WRONG', `10 ^ ${exponent}`)
}

/** Checks the activity of all time buckets of the retained log. Skips the check while older slots are still being counted. */
export async function checkActivity(reading: Writing, report: CheckReport): Promise<void> {
  const retained = await readRetainedLog(reading)
  const { parameters, first, firstRetained } = retained
  if ((await uncountedSlots(reading, firstRetained)).length > 0) return
  const prunable = (await prunableSlots(reading))?.to ?? -1
  let open: ActivityBucket[] = []
  for (let from = firstRetained; ; ) {
    report.signal.throwIfAborted()
    const slots = await reading.tx.commitment.findMany({
      where: { slot: { gte: BigInt(from) } },
      orderBy: { slot: 'asc' },
      take: slotsPerPage,
      select: { slot: true, firstSeq: true, lastSeq: true },
    })
    const numbers = slots.map(({ slot, firstSeq, lastSeq }) => {
      return { slot: Number(slot), firstSeq: Number(firstSeq), lastSeq: Number(lastSeq) }
    })
    from = (numbers.at(-1)?.slot ?? from) + 1
    const isOver = numbers.length < slotsPerPage
    if (numbers.length > 0) {
      const moves = await movesOf(reading, numbers.toReversed())
      const added = await activityOfSlots(reading, parameters, { ...moves, genesis: first })
      open = sumActivity([...open, ...added])
      report.advance(moves.moves.reduce((sum, { updates }) => sum + updates, 0))
    }
    const isWhole = ({ resolution, bucket }: ActivityBucket) =>
      isOver || firstSlotOfBucket(parameters, resolution, bucket + 1) <= from
    await compareSpans(
      reading,
      open.filter(
        (one) => isWhole(one) && isRetained(parameters, retained, one.resolution, one.bucket),
      ),
      {
        report,
        // Blocks that are pruned stay counted.
        mayExceed: (one) => firstSlotOfBucket(parameters, one.resolution, one.bucket) <= prunable,
      },
    )
    open = open.filter((one) => !isWhole(one))
    if (isOver) return
  }
}

const slotsPerPage = 200

interface SpanComparison {
  readonly report: CheckReport
  /** Whether a span may count more blocks than there are. */
  mayExceed(span: ActivityBucket): boolean
}

async function compareSpans(
  { tx }: Writing,
  expected: readonly ActivityBucket[],
  { report, mayExceed }: SpanComparison,
): Promise<void> {
  const names = activity.columns.map(({ name }) => name)
  for (const [resolution, spans] of Map.groupBy(expected, (one) => one.resolution)) {
    const rows = await tx.activity.findMany({
      where: {
        resolution: resolutions.indexOf(resolution),
        bucket: { in: spans.map(({ bucket }) => BigInt(bucket)) },
      },
    })
    const found = new Map(
      rows.map((row) => {
        const values = new Map<string, unknown>(Object.entries(row))
        return [
          Number(row.bucket),
          activityOfRow(activity.rowOf(names.map((name) => values.get(name)))),
        ]
      }),
    )
    for (const own of spans) {
      const kept = found.get(own.bucket)
      const expected = kept !== undefined && mayExceed(own) ? withAtLeast(own, kept) : own
      if (!isSame(kept ?? {}, expected)) {
        report.found('ACTIVITY_WRONG', `${resolution} ${own.bucket}`)
      }
    }
  }
}

/** Returns the counts of a span, with the larger ones of `kept` where they count blocks. */
function withAtLeast(own: ActivityBucket, kept: ActivityBucket): ActivityBucket {
  const { blocks, blockBytes, burned } = kept
  const isMore = (blocks ?? 0) > (own.blocks ?? 0)
  return isMore ? { ...own, blocks, blockBytes, burned } : own
}
