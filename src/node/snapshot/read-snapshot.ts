import { chainOf } from '../../ledger/chain-states.ts'
import { createGenesisTransactions } from '../../ledger/genesis.ts'
import type { Hex } from '../../lib/hex.ts'
import { passTurn } from '../../lib/turns.ts'
import { Output } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, OutputId } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import {
  type LedgerSnapshotReads,
  outputsPerPage,
  type SnapshotOutput,
} from '../../store/contract/ledger-snapshot.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { OutputRow } from '../../store/rows.ts'
import { inLines } from './line-rows.ts'
import { proofsOf } from './prove-outputs.ts'
import {
  firstCheck,
  type Section,
  type SnapshotHead,
  type SnapshotPart,
  type SnapshotPosition,
  type SnapshotRows,
  sections,
  snapshotLine,
} from './snapshot-format.ts'

/** Reads the lines of a snapshot from a database page by page, while slots are committed. */

/**
 * Too many rows were written since the slot, or the log was pruned past the slot, so that histories cannot be continued from it.
 */
class SnapshotTooOld extends Error {
  constructor() {
    super('the slot of the snapshot is too old')
    this.name = 'SnapshotTooOld'
  }
}

/** The range to read: from a position to the end. */
export interface SnapshotRange extends SnapshotPosition {
  /** The last position of the log at the end of the slot. */
  readonly seq: number
  readonly parameters: ProtocolParameters
}

type SnapshotReads = LedgerSnapshotReads &
  Pick<StoreReader, 'blocks' | 'outputsOfTransaction' | 'logTip' | 'unspentCount'>

/**
 * Whether the log is pruned past a slot, or a page of its outputs would scan too many later slots and spent outputs. On SQLite, a
 * page blocks the event loop.
 */
export async function isTooOld(
  read: Pick<SnapshotReads, 'logTip' | 'unspentCount'>,
  { slot, seq }: Pick<SnapshotRange, 'slot' | 'seq'>,
): Promise<boolean> {
  const tip = await read.logTip()
  const unspent = await read.unspentCount()
  const rowsPerPage = ((tip.seq - seq) * outputsPerPage) / Math.max(unspent, outputsPerPage)
  return seq < tip.prunedSeq || tip.slot - slot + rowsPerPage > maxRowsPerPage
}

/** Scanning this many rows takes about 15 ms. */
const maxRowsPerPage = 5_000

/** The lines of a snapshot from its head on, each with its line end. */
export async function* wholeSnapshot(
  read: SnapshotReads,
  head: SnapshotHead,
  parameters: ProtocolParameters,
): AsyncGenerator<string> {
  const { slot, commitments } = head
  const { check, text } = snapshotLine(firstCheck, { section: 'head', head })
  const seq = commitments.at(-1)?.[2] ?? 0
  yield `${text}\n`
  yield* snapshotLines(read, { slot, section: 'outputs', after: '0x', check, seq, parameters })
}

/** The lines from a position to the end, each with its line end. */
export async function* snapshotLines(
  read: SnapshotReads,
  range: SnapshotRange,
): AsyncGenerator<string> {
  let { check } = range
  const line = (part: SnapshotPart) => {
    const next = snapshotLine(check, part)
    check = next.check
    return `${next.text}\n`
  }
  for (const section of sections.slice(sections.indexOf(range.section))) {
    const after = section === range.section ? range.after : '0x'
    for await (const part of partsOf(read, range, section, after)) {
      await passTurn()
      yield line(part)
    }
  }
  yield line({ section: 'end' })
}

async function* partsOf(
  read: SnapshotReads,
  { slot, seq, parameters }: SnapshotRange,
  section: Section,
  from: Hex,
): AsyncGenerator<SnapshotRows> {
  const firsts = createGenesisTransactions()
  let pages = 0
  for (let after: Hex | undefined = from === '0x' ? undefined : from; ; ) {
    if (++pages % pagesPerCheck === 0 && (await isTooOld(read, { slot, seq }))) {
      throw new SnapshotTooOld()
    }
    if (section === 'outputs') {
      const outputs = await read.outputsAt(slot, after as OutputId | undefined)
      if (outputs.length === 0) return
      for await (const some of inLines(outputs, ({ bytes }) => bytes.length)) {
        const proofs = await proofsOf(read, { parameters, firsts }, some)
        const rows = await withOrdinals(read, some)
        yield { section, rows: rows.map((row) => ({ ...row, proof: proofs.get(row.outputId) })) }
      }
      after = outputs.at(-1)?.outputId
    } else if (section === 'accounts') {
      const page = await read.accountsAt(slot, after as AccountId | undefined)
      if (page === undefined) return
      if (page.accounts.length > 0) yield { section, rows: page.accounts }
      after = page.last
    } else {
      const page = await read.tipsAt(seq, after)
      if (page === undefined) return
      if (page.tips.some(({ milestoneIndex }) => milestoneIndex > slot)) throw new SnapshotTooOld()
      if (page.tips.length > 0) yield { section, rows: page.tips }
      after = page.last
    }
  }
}

/** Number of pages between two checks of the age, because a transfer may take long. */
const pagesPerCheck = 20

async function withOrdinals(
  read: LedgerSnapshotReads,
  rows: readonly OutputRow[],
): Promise<Omit<SnapshotOutput, 'output'>[]> {
  const states = rows.flatMap(({ outputId, bytes }) => {
    const chain = chainOf(outputId, decodeStored(Output, bytes))
    return chain === undefined ? [] : [{ chainId: chain.chainId, outputId }]
  })
  const ordinals = await read.chainOrdinals(states)
  return rows.map((row) => ({ ...row, chainOrdinal: ordinals.get(row.outputId) }))
}
