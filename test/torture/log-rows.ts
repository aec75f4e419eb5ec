import { createHash } from 'node:crypto'
import { bech32 } from 'bech32'
import type { Subscriber } from './subscriber.ts'

/** Checks the log of a database without code of the gateway. */

/** A row of the log, as a client must receive it. */
export interface ExpectedRow {
  readonly seq: number
  /** As Bech32 text. */
  readonly address: string
  readonly class: 'OWNED' | 'MENTIONED'
  /** All fields of the update that a client receives. */
  readonly text: string
}

/** A row of the table. */
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

/** The rows of a log, and the rows that do not continue from the rows before. */
export interface CheckedLog {
  readonly rows: readonly ExpectedRow[]
  readonly faults: readonly string[]
}

/** Recomputes the positions, ordinals and history hashes. */
export function checkLog(table: readonly RawRow[]): CheckedLog {
  const faults: string[] = []
  const newest = new Map<string, { ordinal: number; historyHash: Buffer }>()
  const rows = table.map((raw, i): ExpectedRow => {
    const key = `${raw.class} ${raw.address.toString('hex')}`
    const former = newest.get(key) ?? { ordinal: 0, historyHash: Buffer.alloc(32) }
    const milestone = Buffer.alloc(4)
    milestone.writeUInt32LE(raw.milestoneIndex)
    const historyHash = createHash('sha256')
      .update(former.historyHash)
      .update(milestone)
      .update(raw.outputId)
      .update(Buffer.of(raw.isSpent ? 1 : 0))
      .digest()
    if (!historyHash.equals(raw.historyHash))
      faults.push(`row ${raw.seq}: its history hash is wrong`)
    if (raw.seq !== i + 1) faults.push(`row ${i + 1} has position ${raw.seq}`)
    if (raw.ordinal !== former.ordinal + 1)
      faults.push(`row ${raw.seq}: its ordinal is ${raw.ordinal}`)
    newest.set(key, { ordinal: raw.ordinal, historyHash })
    const row = {
      seq: raw.seq,
      address: bech32.encode('tst', bech32.toWords(raw.address)),
      class: raw.class === 0 ? ('OWNED' as const) : ('MENTIONED' as const),
    }
    const outputId = `0x${raw.outputId.toString('hex')}`
    const { ordinal, milestoneIndex, isSpent } = raw
    const hashText = `0x${historyHash.toString('hex')}`
    return {
      ...row,
      text: textOf({ ...row, ordinal, outputId, isSpent, milestoneIndex, historyHash: hashText }),
    }
  })
  return { rows, faults }
}

/** Compares the updates that a client received with the rows from its first to its last cursor, and returns the differences. */
export function faultsOf(subscriber: Subscriber, rows: readonly ExpectedRow[]): readonly string[] {
  const [start, end] = [seqOf(subscriber.startCursor()), seqOf(subscriber.cursor())]
  if (start === undefined || end === undefined) return ['received nothing']
  const expected = rowsFor(subscriber, rows).filter(({ seq }) => seq > start && seq <= end)
  const history = subscriber.history.map(textOf)
  const faults = [...subscriber.faults()]
  if (history.length !== expected.length) {
    faults.push(`received ${history.length} updates instead of ${expected.length}`)
  }
  const at = expected.findIndex((row, i) => row.text !== history[i])
  if (at !== -1)
    faults.push(`update ${at + 1} should be ${expected[at]?.text}, but is ${history[at]}`)
  return faults
}

/** Returns the rows with the addresses and classes of a client. */
export function rowsFor(
  { addresses, classes }: Pick<Subscriber, 'addresses' | 'classes'>,
  rows: readonly ExpectedRow[],
): readonly ExpectedRow[] {
  const followed = addresses === undefined ? undefined : new Set(addresses)
  return rows.filter((row) => classes.includes(row.class) && (followed?.has(row.address) ?? true))
}

/** Returns the position of a cursor: bytes 9 to 16 of its decoded text. */
export function seqOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  return Number(Buffer.from(cursor, 'base64url').readBigUInt64BE(9))
}

function textOf(update: {
  readonly address: string
  readonly class: string
  readonly ordinal: string | number
  readonly outputId: string
  readonly isSpent: boolean
  readonly milestoneIndex: number
  readonly historyHash: string
}): string {
  const {
    address,
    class: updateClass,
    ordinal,
    outputId,
    isSpent,
    milestoneIndex,
    historyHash,
  } = update
  return [address, updateClass, ordinal, outputId, isSpent, milestoneIndex, historyHash].join(' ')
}
