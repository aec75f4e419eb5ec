import { createHash } from 'node:crypto'
import { bech32 } from 'bech32'
import type { Listener } from './listener.ts'

/** The log as the database has it, judged without any code of the gateway. */

/** A row of the log, as a client should be told of it. */
export interface ToldRow {
  readonly seq: number
  /** Bech32. */
  readonly address: string
  readonly class: 'OWNED' | 'MENTIONED'
  /** What a client is told, as one text. */
  readonly told: string
}

/** A row as it lies in the database. */
export interface RawRow {
  readonly seq: number
  readonly address: Buffer
  readonly class: number
  readonly ordinal: number
  readonly milestoneIndex: number
  readonly outputId: Buffer
  readonly isSpent: boolean
  readonly historyHash: Buffer
}

/** A log, and where its rows do not follow from those before. */
export interface JudgedLog {
  readonly rows: readonly ToldRow[]
  readonly faults: readonly string[]
}

/** Recomputes positions, ordinals and history hashes. */
export function judgeLog(raws: readonly RawRow[]): JudgedLog {
  const faults: string[] = []
  const points = new Map<string, { ordinal: number; historyHash: Buffer }>()
  const rows = raws.map((raw, i): ToldRow => {
    const key = `${raw.class} ${raw.address.toString('hex')}`
    const former = points.get(key) ?? { ordinal: 0, historyHash: Buffer.alloc(32) }
    const milestone = Buffer.alloc(4)
    milestone.writeUInt32LE(raw.milestoneIndex)
    const historyHash = createHash('sha256')
      .update(former.historyHash)
      .update(milestone)
      .update(raw.outputId)
      .update(Buffer.of(raw.isSpent ? 1 : 0))
      .digest()
    if (!historyHash.equals(raw.historyHash))
      faults.push(`row ${raw.seq}: its history hash does not follow`)
    if (raw.seq !== i + 1) faults.push(`row ${i + 1} is ${raw.seq}`)
    if (raw.ordinal !== former.ordinal + 1) faults.push(`row ${raw.seq}: ordinal ${raw.ordinal}`)
    points.set(key, { ordinal: raw.ordinal, historyHash })
    const row = {
      seq: raw.seq,
      address: bech32.encode('tst', bech32.toWords(raw.address)),
      class: raw.class === 0 ? ('OWNED' as const) : ('MENTIONED' as const),
    }
    const outputId = `0x${raw.outputId.toString('hex')}`
    const { ordinal, milestoneIndex, isSpent } = raw
    const link = `0x${historyHash.toString('hex')}`
    return {
      ...row,
      told: told({ ...row, ordinal, outputId, isSpent, milestoneIndex, historyHash: link }),
    }
  })
  return { rows, faults }
}

/** Whether a client was told exactly the rows from its beginning to its end: what was wrong. */
export function faultsOf(listener: Listener, rows: readonly ToldRow[]): readonly string[] {
  const [start, end] = [seqIn(listener.startCursor()), seqIn(listener.cursor())]
  if (start === undefined || end === undefined) return ['it never began']
  const expected = rowsFor(listener, rows).filter(({ seq }) => seq > start && seq <= end)
  const history = listener.history.map(told)
  const faults = [...listener.faults()]
  if (history.length !== expected.length) {
    faults.push(`told ${history.length} updates of ${expected.length}`)
  }
  const at = expected.findIndex((row, i) => row.told !== history[i])
  if (at !== -1) faults.push(`update ${at + 1} should be ${expected[at]?.told}, not ${history[at]}`)
  return faults
}

/** The rows that a client follows, wherever it began. */
export function rowsFor(
  { addresses, classes }: Pick<Listener, 'addresses' | 'classes'>,
  rows: readonly ToldRow[],
): readonly ToldRow[] {
  const followed = addresses === undefined ? undefined : new Set(addresses)
  return rows.filter((row) => classes.includes(row.class) && (followed?.has(row.address) ?? true))
}

/** The position that a cursor names: bytes 9 to 16 of what its text spells. */
export function seqIn(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  return Number(Buffer.from(cursor, 'base64url').readBigUInt64BE(9))
}

function told(update: {
  readonly address: string
  readonly class: string
  readonly ordinal: string | number
  readonly outputId: string
  readonly isSpent: boolean
  readonly milestoneIndex: number
  readonly historyHash: string
}): string {
  const { address, class: its, ordinal, outputId, isSpent, milestoneIndex, historyHash } = update
  return [address, its, ordinal, outputId, isSpent, milestoneIndex, historyHash].join(' ')
}
