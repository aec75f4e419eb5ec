import { chainOf } from '../../ledger/chain-states.ts'
import { assert } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { Output } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, OutputId } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { LedgerSnapshotReads, SnapshotOutput } from '../../store/ledger-snapshot-contract.ts'
import type { OutputRow } from '../../store/rows.ts'
import { proofsOf } from './prove-outputs.ts'
import {
  type Section,
  type SnapshotPart,
  type SnapshotPosition,
  type SnapshotRows,
  sections,
  snapshotLine,
} from './snapshot-format.ts'

/** The lines of a snapshot, read from a database page by page, while slots are committed. */

/** The rows of the log up to the end of the slot are no longer kept, so that histories cannot be continued from there. */
export class SnapshotTooOld extends Error {
  constructor() {
    super('the log was pruned behind the slot of the snapshot')
    this.name = 'SnapshotTooOld'
  }
}

/** What is read. */
export interface SnapshotRange extends SnapshotPosition {
  /** The last position of the log at the end of the slot. */
  readonly seq: number
  readonly parameters: ProtocolParameters
}

type SnapshotReads = LedgerSnapshotReads & Pick<StoreReader, 'blocks' | 'outputs'>

/** The lines from a position to the end, each with its end. */
export async function* snapshotLines(
  read: SnapshotReads,
  range: SnapshotRange,
): AsyncGenerator<string> {
  let { check } = range
  const line = (part: SnapshotPart) => {
    const made = snapshotLine(check, part)
    check = made.check
    return `${made.text}\n`
  }
  for (const section of sections.slice(sections.indexOf(range.section))) {
    const after = section === range.section ? range.after : '0x'
    for await (const part of partsOf(read, range, section, after)) yield line(part)
  }
  yield line({ section: 'end' })
}

async function* partsOf(
  read: SnapshotReads,
  { slot, seq, parameters }: SnapshotRange,
  section: Section,
  from: Hex,
): AsyncGenerator<SnapshotRows> {
  for (let after: Hex | undefined = from === '0x' ? undefined : from; ; ) {
    if (section === 'outputs') {
      const outputs = await read.outputsAt(slot, after as OutputId | undefined)
      if (outputs.length === 0) return
      const proofs = await proofsOf(read, parameters, outputs)
      const rows = await withOrdinals(read, outputs)
      yield { section, rows: rows.map((row) => ({ ...row, proof: proofs.get(row.outputId) })) }
      after = outputs.at(-1)?.outputId
    } else if (section === 'accounts') {
      const rows = await read.accountsAt(slot, after as AccountId | undefined)
      if (rows.length === 0) return
      yield { section, rows }
      after = rows.at(-1)?.accountId
    } else {
      const page = await read.tipsAt(seq, after)
      if (page === undefined) return
      if (page.tips.some(({ milestoneIndex }) => milestoneIndex > slot)) throw new SnapshotTooOld()
      if (page.tips.length > 0) yield { section, rows: page.tips }
      after = page.last
    }
  }
}

async function withOrdinals(
  read: LedgerSnapshotReads,
  rows: readonly OutputRow[],
): Promise<SnapshotOutput[]> {
  const states = rows.flatMap(({ outputId, bytes }) => {
    const output = decode(Output, bytes)
    assert(output.ok, 'a stored output decodes')
    const chain = chainOf(outputId, output.value)
    return chain === undefined ? [] : [{ chainId: chain.chainId, outputId }]
  })
  const ordinals = await read.chainOrdinals(states)
  return rows.map((row) => ({ ...row, chainOrdinal: ordinals.get(row.outputId) }))
}
