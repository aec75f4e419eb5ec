import { accountEntryBytes } from '../../src/ledger/accounts.ts'
import { type Hex, hexToBytes } from '../../src/lib/hex.ts'
import type { ProvenOutput } from '../../src/node/snapshot/snapshot-format.ts'
import { Writer } from '../../src/protocol/schema/writer.ts'
import type { AccountAt } from '../../src/store/contract/ledger-snapshot.ts'

/** Writes snapshot files in the format of iota-core (docs/iota-core-snapshot.md) from the state of this gateway's ledger. */

/** The ledger that a snapshot file describes. */
export interface IotaCoreLedger {
  readonly slot: number
  readonly parameters: Hex
  /** The roots in the order of the roots id; `undefined` for the genesis slot. */
  readonly roots: readonly Hex[] | undefined
  /** The commitments of all slots from the genesis to `slot`. */
  readonly commitments: readonly Uint8Array[]
  /** The unspent outputs at the end of the slot, ordered by id. */
  readonly outputs: readonly ProvenOutput[]
  /** The accounts at the end of the slot, in any order. */
  readonly accounts: readonly AccountAt[]
  /** The changes of the later slots, the oldest first. */
  readonly since?: readonly SlotDiff[]
}

/** The outputs that a slot created and consumed. */
export interface SlotDiff {
  readonly created: readonly ProvenOutput[]
  readonly consumed: readonly ProvenOutput[]
}

/** The bytes of a file, and the offset of each part. */
export interface IotaCoreFile {
  readonly bytes: Buffer
  readonly places: ReadonlyMap<string, number>
}

/** Builds a snapshot file. The parts that a follower does not need have one or two elements each. */
export function iotaCoreFile(ledger: IotaCoreLedger): IotaCoreFile {
  const places = new Map<string, number>()
  const parts: Uint8Array[] = []
  let length = 0
  for (const [name, write] of partsOf(ledger)) {
    places.set(name, length)
    const writer = new Writer(1_024)
    write(writer)
    const bytes = writer.bytes()
    parts.push(bytes)
    length += bytes.length
  }
  places.set('end', length)
  return { bytes: Buffer.concat(parts), places }
}

type WritePart = (writer: Writer) => void

function partsOf(ledger: IotaCoreLedger): readonly (readonly [string, WritePart])[] {
  const { slot, roots, since = [] } = ledger
  return [
    ['settings', (writer) => writeSettings(writer, ledger)],
    ['commitments', (writer) => writeCommitments(writer, ledger)],
    ['outputs', (writer) => writeOutputs(writer, ledger)],
    ['slot diffs', (writer) => writeSlotDiffs(writer, slot, since)],
    ['accounts', (writer) => writeAccounts(writer, ledger)],
    ['account diffs', writeAccountDiffs],
    ['performance', (writer) => each(writer, 4, [slot], () => writePerformance(writer, slot))],
    ['pool rewards', (writer) => each(writer, 4, [0], () => writePools(writer, 8))],
    ['pool stats', (writer) => each(writer, 4, [0], () => zeros(writer, 4 + 24))],
    ['committees', (writer) => each(writer, 4, [0], () => writeCommittee(writer))],
    ['root blocks', writeRootBlocks],
    ['attestations', (writer) => each(writer, 4, [1, 2], () => writeSized(writer, 2, someBytes))],
    ['upgrade signals', (writer) => writeUpgrades(writer, slot)],
    ['roots', (writer) => writeRoots(writer, roots)],
  ]
}

function writeSettings(writer: Writer, { slot, parameters, commitments }: IotaCoreLedger): void {
  writeSized(writer, 2, commitments.at(-1) ?? someBytes)
  writer.u32(slot)
  each(writer, 2, [3], (version) => {
    writer.u8(version)
    writer.u32(0)
  })
  each(writer, 2, [4], (version) => {
    writer.u8(version)
    writer.u32(9)
    zeros(writer, 32)
  })
  each(writer, 2, [Buffer.from('another version'), hexToBytes(parameters)], (bytes) =>
    writeSized(writer, 4, bytes),
  )
}

function writeCommitments(writer: Writer, { commitments }: IotaCoreLedger): void {
  each(writer, 4, commitments, (bytes) => writeSized(writer, 2, bytes))
}

/** Writes the outputs that are unspent in the newest slot, ordered by id. */
function writeOutputs(writer: Writer, { slot, outputs, since = [] }: IotaCoreLedger): void {
  writer.u32(slot + since.length)
  const unspent = new Map(outputs.map((output) => [output.outputId, output]))
  for (const { created, consumed } of since) {
    for (const output of created) unspent.set(output.outputId, output)
    for (const { outputId } of consumed) unspent.delete(outputId)
  }
  const rows = [...unspent.values()].sort((a, b) => (a.outputId < b.outputId ? -1 : 1))
  each(writer, 8, rows, (output) => writeOutput(writer, output))
}

function writeOutput(
  writer: Writer,
  { outputId, blockId, bookedSlot, bytes, proof }: ProvenOutput,
) {
  writer.hex(outputId)
  writer.hex(blockId ?? `0x${'00'.repeat(36)}`)
  writer.u32(bookedSlot)
  writeSized(writer, 4, bytes)
  writeSized(writer, 4, hexToBytes(proof ?? '0x'))
}

function writeSlotDiffs(writer: Writer, slot: number, since: readonly SlotDiff[]): void {
  const newestFirst = since.map((diff, i) => ({ ...diff, slot: slot + 1 + i })).reverse()
  each(writer, 4, newestFirst, (diff) => {
    writer.u32(diff.slot)
    each(writer, 4, diff.created, (output) => writeOutput(writer, output))
    each(writer, 4, diff.consumed, (output) => {
      writeOutput(writer, output)
      zeros(writer, 36)
    })
  })
}

function writeAccounts(writer: Writer, { accounts }: IotaCoreLedger): void {
  each(writer, 8, accounts, ({ entry }) => put(writer, accountEntryBytes(entry)))
}

function writeAccountDiffs(writer: Writer): void {
  each(writer, 8, [7], (slot) => {
    writer.u32(slot)
    each(writer, 8, [false, true], (isDestroyed) => {
      zeros(writer, 32)
      writer.u8(isDestroyed ? 1 : 0)
      if (isDestroyed) return
      zeros(writer, 8 + 3 * 4 + 2 * 38)
      each(writer, 1, [1, 2], () => zeros(writer, 33))
      each(writer, 1, [], () => {})
      zeros(writer, 4 * 8 + 2 * 33)
    })
  })
}

function writePerformance(writer: Writer, slot: number): void {
  writer.u32(slot)
  each(writer, 8, [1, 2], () => zeros(writer, 32 + 4 + 1 + 33))
}

/** Writes the pools of an epoch. */
function writePools(writer: Writer, prefix: Prefix): void {
  writer.u32(1)
  each(writer, prefix, [1, 2], () => zeros(writer, 32 + 24))
}

function writeCommittee(writer: Writer): void {
  writePools(writer, 4)
  writer.u8(1)
}

function writeRootBlocks(writer: Writer): void {
  each(writer, 4, [1, 2], () => zeros(writer, 36 + 36))
  writer.u32(1)
}

function writeUpgrades(writer: Writer, slot: number): void {
  writer.u32(slot)
  each(writer, 4, [5], (seat) => {
    writer.u8(seat)
    writeSized(writer, 2, someBytes)
  })
  each(writer, 1, [6], (epoch) => {
    writer.u32(epoch)
    zeros(writer, 33)
  })
}

/** Writes the roots in the order of the file, which differs from that of the roots id. */
function writeRoots(writer: Writer, roots: IotaCoreLedger['roots']): void {
  if (roots === undefined) return
  for (const place of [3, 4, 5, 7, 6, 1, 2, 0]) writer.hex(roots[place] ?? '0x')
}

type Prefix = 1 | 2 | 4 | 8

function each<T>(
  writer: Writer,
  prefix: Prefix,
  elements: readonly T[],
  write: (element: T) => void,
): void {
  writeCount(writer, prefix, elements.length)
  for (const element of elements) write(element)
}

function writeCount(writer: Writer, prefix: Prefix, count: number): void {
  if (prefix === 1) writer.u8(count)
  if (prefix === 2) writer.u16(count)
  if (prefix === 4) writer.u32(count)
  if (prefix === 8) writer.u64(BigInt(count))
}

function writeSized(writer: Writer, prefix: 2 | 4, bytes: Uint8Array): void {
  writeCount(writer, prefix, bytes.length)
  put(writer, bytes)
}

function put(writer: Writer, bytes: Uint8Array): void {
  const at = writer.room(bytes.length)
  writer.buf.set(bytes, at)
}

function zeros(writer: Writer, count: number): void {
  put(writer, new Uint8Array(count))
}

const someBytes = Uint8Array.of(1, 2, 3)
