import { hash } from 'node:crypto'
import { accountEntryBytes, accountEntryFrom } from '../../ledger/accounts.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts'
import { isCount, parsedJson } from '../../lib/json.ts'
import type { AccountId, BlockId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { AccountAt, SnapshotOutput } from '../../store/contract/ledger-snapshot.ts'
import type { PrunedTip } from '../../store/rows.ts'

/**
 * The text of a snapshot (docs/decisions/035-snapshots.md): lines of JSON, each an array of a check and a part. The check is SHA-256
 * over the check of the previous line and the text of the part, both as text, so that a line vouches for all lines before it.
 */

/** The first part: the slot, its proof, and the data to continue the log. */
export interface SnapshotHead {
  readonly format: typeof snapshotFormat
  readonly version: typeof snapshotVersion
  readonly slot: SlotIndex
  /** The serialized parameters of the network. */
  readonly parameters: Hex
  /** The eight roots that the roots id of the commitment is computed from, in order (ledger reference 11.2). */
  readonly roots: readonly Hex[]
  /** Commitments with the range of their log rows, oldest first. The last one is the commitment of the slot. */
  readonly commitments: readonly SnapshotMilestone[]
  readonly logId: Hex
}

/** A serialized commitment, with the first and the last log position of its rows. */
export type SnapshotMilestone = readonly [bytes: Hex, firstSeq: number, lastSeq: number]

/** The sections of the parts after the head, in order. */
export const sections = ['outputs', 'accounts', 'tips'] as const
export type Section = (typeof sections)[number]

/** An output with the serialized proof of its content; `undefined` if the block of its transaction is not kept. */
export interface ProvenOutput extends Omit<SnapshotOutput, 'output'> {
  readonly proof: Hex | undefined
}

export type SnapshotRows =
  | { readonly section: 'outputs'; readonly rows: readonly ProvenOutput[] }
  | { readonly section: 'accounts'; readonly rows: readonly AccountAt[] }
  | { readonly section: 'tips'; readonly rows: readonly PrunedTip[] }

export type SnapshotPart =
  | { readonly section: 'head'; readonly head: SnapshotHead }
  | SnapshotRows
  | { readonly section: 'end' }

/** Where to resume a snapshot: after a key of a section, with the check at that point. */
export interface SnapshotPosition {
  readonly slot: SlotIndex
  readonly section: Section
  /** The last key; empty at the beginning of the section. */
  readonly after: Hex
  readonly check: string
}

/** The name of the format, in the head. */
export const snapshotFormat = 'ledger-gateway-snapshot'

/** Incremented when older programs cannot read the format. */
export const snapshotVersion = 1

/** The check before the first line. */
export const firstCheck = '0'.repeat(64)

/** Creates the line of a part, without the line end. */
export function snapshotLine(check: string, part: SnapshotPart): SnapshotLine {
  const text = JSON.stringify(printed(part))
  const next = checkAfter(check, text)
  return { check: next, text: `["${next}",${text}]` }
}

/** A line, or the text of its part, with the check of the line. */
export interface SnapshotLine {
  readonly check: string
  readonly text: string
}

/** Splits a line into its check and the text of its part; `undefined` if it is not a line of a snapshot. */
export function splitLine(line: string): SnapshotLine | undefined {
  const [, check, text] = /^\["([0-9a-f]{64})",(.*)\]$/s.exec(line) ?? []
  return check === undefined || text === undefined ? undefined : { check, text }
}

/** The check of a line, from the check of the previous line and the text of the part. */
export function checkAfter(check: string, text: string): string {
  return hash('sha256', check + text)
}

/** Parses the text of a part; `undefined` if it is malformed. Does not decode outputs or commitments. */
export function parsePart(text: string): SnapshotPart | undefined {
  const json = parsedJson(text)
  if (!isObject(json)) return undefined
  if (json.format !== undefined) {
    const head = headIn(json)
    return head && { section: 'head', head }
  }
  if (json.end === true) return { section: 'end' }
  const { outputs, accounts, tips } = json
  if (Array.isArray(outputs)) return rowsIn('outputs', outputs.map(outputIn))
  if (Array.isArray(accounts)) return rowsIn('accounts', accounts.map(accountIn))
  return Array.isArray(tips) ? rowsIn('tips', tips.map(tipIn)) : undefined
}

export function positionText({ slot, section, after, check }: SnapshotPosition): string {
  return `${slot}:${section}:${after}:${check}`
}

/** Parses a position; `undefined` if the text is malformed. */
export function parsePosition(text: string): SnapshotPosition | undefined {
  const pattern = /^(\d{1,10}):(outputs|accounts|tips):(0x(?:[0-9a-f]{2}){0,128}):([0-9a-f]{64})$/
  const [, slot, name, after, check] = pattern.exec(text) ?? []
  const section = sections.find((known) => known === name)
  if (section === undefined || !isHexText(after) || check === undefined) return undefined
  return { slot: Number(slot), section, after, check }
}

/** The key of the last row of a part. */
export function lastKey(part: SnapshotRows): Hex {
  const [output, account, tip] = [
    part.section === 'outputs' ? part.rows.at(-1)?.outputId : undefined,
    part.section === 'accounts' ? part.rows.at(-1)?.accountId : undefined,
    part.section === 'tips' ? part.rows.at(-1)?.address : undefined,
  ]
  return output ?? account ?? tip ?? '0x'
}

function printed(part: SnapshotPart): unknown {
  switch (part.section) {
    case 'head':
      return part.head
    case 'outputs':
      return {
        outputs: part.rows.map((row) => [
          row.outputId,
          row.blockId ?? null,
          row.bookedSlot,
          bytesToHex(row.bytes),
          row.chainOrdinal ?? null,
          row.proof ?? null,
        ]),
      }
    case 'accounts':
      return { accounts: part.rows.map(({ entry }) => bytesToHex(accountEntryBytes(entry))) }
    case 'tips':
      return {
        tips: part.rows.map((row) => [
          row.address,
          row.class,
          row.ordinal,
          row.historyHash,
          row.milestoneIndex,
          row.balance === undefined ? null : String(row.balance),
        ]),
      }
    case 'end':
      return { end: true }
  }
}

function headIn(json: Readonly<Record<string, unknown>>): SnapshotHead | undefined {
  const { slot, parameters, roots, commitments, logId } = json
  if (json.format !== snapshotFormat || json.version !== snapshotVersion) return undefined
  if (!isCount(slot) || !isHexText(parameters) || !isHexText(logId, 8)) return undefined
  if (!Array.isArray(roots) || roots.length !== 8) return undefined
  if (!roots.every((root) => isHexText(root, 32))) return undefined
  if (!Array.isArray(commitments) || !commitments.every(isMilestone)) return undefined
  const members = { slot, parameters, roots, commitments, logId }
  return { format: snapshotFormat, version: snapshotVersion, ...members }
}

function isMilestone(value: unknown): value is SnapshotMilestone {
  if (!Array.isArray(value)) return false
  const [bytes, firstSeq, lastSeq] = value
  return isHexText(bytes) && isCount(firstSeq) && isCount(lastSeq)
}

function rowsIn(
  section: 'outputs',
  rows: readonly (ProvenOutput | undefined)[],
): SnapshotRows | undefined
function rowsIn(
  section: 'accounts',
  rows: readonly (AccountAt | undefined)[],
): SnapshotRows | undefined
function rowsIn(section: 'tips', rows: readonly (PrunedTip | undefined)[]): SnapshotRows | undefined
function rowsIn(section: Section, rows: readonly unknown[]) {
  return rows.includes(undefined) ? undefined : { section, rows }
}

function outputIn(value: unknown): ProvenOutput | undefined {
  if (!Array.isArray(value)) return undefined
  const [outputId, blockId, bookedSlot, bytes, ordinal, proof] = value
  if (!isHexText(outputId, 38) || !isCount(bookedSlot) || !isHexText(bytes)) return undefined
  if (blockId !== null && !isHexText(blockId, 36)) return undefined
  if (ordinal !== null && !isCount(ordinal)) return undefined
  if (proof !== null && !isHexText(proof)) return undefined
  return {
    outputId: outputId as OutputId,
    blockId: blockId === null ? undefined : (blockId as BlockId),
    bookedSlot,
    bytes: hexToBytes(bytes),
    chainOrdinal: ordinal ?? undefined,
    proof: proof ?? undefined,
  }
}

/** Accepts only bytes that the entry serializes to again, because the decoder alone accepts any bytes. */
function accountIn(value: unknown): AccountAt | undefined {
  if (!isHexText(value)) return undefined
  try {
    const entry = accountEntryFrom(hexToBytes(value))
    if (bytesToHex(accountEntryBytes(entry)) !== value) return undefined
    return { accountId: entry.accountId as AccountId, entry }
  } catch {
    return undefined
  }
}

function tipIn(value: unknown): PrunedTip | undefined {
  if (!Array.isArray(value)) return undefined
  const [address, updateClass, ordinal, historyHash, milestoneIndex, balance] = value
  if (updateClass !== 'OWNED' && updateClass !== 'MENTIONED') return undefined
  if (!isHexText(address) || !isHexText(historyHash, 32)) return undefined
  if (!isCount(ordinal) || !isCount(milestoneIndex)) return undefined
  if (balance !== null && !(typeof balance === 'string' && /^\d{1,19}$/.test(balance))) return
  return {
    address,
    class: updateClass,
    ordinal,
    historyHash,
    milestoneIndex,
    balance: balance === null ? undefined : BigInt(balance),
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isHexText(value: unknown, length?: number): value is Hex {
  return (
    typeof value === 'string' &&
    /^0x([0-9a-f]{2})*$/.test(value) &&
    (length === undefined || value.length === 2 + 2 * length)
  )
}
