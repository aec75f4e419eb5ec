import { type FileHandle, open } from 'node:fs/promises'
import { accountEntryFrom } from '../../../ledger/accounts.ts'
import { chainOf } from '../../../ledger/chain-states.ts'
import { bytesToHex, type Hex } from '../../../lib/hex.ts'
import { Output } from '../../../protocol/outputs.ts'
import { ProtocolParameters } from '../../../protocol/parameters.ts'
import type { BlockId, OutputId } from '../../../protocol/primitives.ts'
import { decode, encode } from '../../../protocol/schema/schema.ts'
import type { AccountAt } from '../../../store/ledger-snapshot-contract.ts'
import {
  firstCheck,
  type ProvenOutput,
  type SnapshotHead,
  type SnapshotPart,
  snapshotFormat,
  snapshotLine,
  snapshotVersion,
} from '../snapshot-format.ts'
import { createFileReader, type FileReader } from './file-reader.ts'
import { inOrder, type KeyedPlace } from './in-order.ts'
import {
  accountBytesIn,
  isFileOfIotaCore,
  mostOutputBytes,
  mostProofBytes,
  outputHeadBytes,
  type Place,
  type ScannedFile,
  scanFile,
  skipOutput,
} from './scan-file.ts'

/** A snapshot file of iota-core as the lines of a snapshot of this program, so that both are checked and received alike. */

/** Whether a file is one; a file that cannot be read is none. */
export async function isWrittenByIotaCore(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && isFileOfIotaCore(buffer)
  } finally {
    await handle.close()
  }
}

/** The genesis slot has no roots that its commitment would stand for. */
export class SnapshotOfGenesis extends Error {
  constructor() {
    super('the snapshot is that of the genesis, whose commitment stands for no output')
    this.name = 'SnapshotOfGenesis'
  }
}

/** The lines of the file at a path. Throws where it is none of iota-core, or not in order. */
export async function* linesOfIotaCore(path: string): AsyncGenerator<string> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const scanned = await scanFile(createFileReader(handle, size), size)
    let check = firstCheck
    for await (const part of partsOf({ handle, size }, scanned)) {
      const line = snapshotLine(check, part)
      check = line.check
      yield line.text
    }
  } finally {
    await handle.close()
  }
}

interface OpenFile {
  readonly handle: FileHandle
  readonly size: number
}

async function* partsOf(file: OpenFile, scanned: ScannedFile): AsyncGenerator<SnapshotPart> {
  yield { section: 'head', head: headOf(scanned) }
  for await (const rows of inLines(outputsAt(file, scanned), sizeOf)) {
    yield { section: 'outputs', rows }
  }
  for await (const rows of inLines(accountsIn(file, scanned), () => 0)) {
    yield { section: 'accounts', rows }
  }
  yield { section: 'end' }
}

const sizeOf = ({ bytes }: ProvenOutput) => bytes.length

/**
 * The file does not know of a log: it begins anew behind the slot, and has one position for each of these slots, so that none of them
 * says that it changed nothing.
 */
function headOf({ commitment, parameters, commitments, roots }: ScannedFile): SnapshotHead {
  if (roots === undefined) throw new SnapshotOfGenesis()
  return {
    format: snapshotFormat,
    version: snapshotVersion,
    slot: commitment.slot,
    parameters: bytesToHex(encode(ProtocolParameters, parameters)),
    roots,
    commitments: commitments.map((bytes, i) => [bytesToHex(bytes), i + 1, i + 1]),
    logId: noLog,
  }
}

/** The id of no log: a follower makes one of its own. */
const noLog: Hex = `0x${'00'.repeat(8)}`

/** Elements by the line: some at a time, fewer where they are large. */
async function* inLines<T>(
  elements: AsyncIterable<T>,
  size: (element: T) => number,
): AsyncGenerator<readonly T[]> {
  let line: T[] = []
  let bytes = 0
  for await (const element of elements) {
    line.push(element)
    bytes += size(element)
    if (line.length < mostInLine && bytes < usualBytes) continue
    yield line
    line = []
    bytes = 0
  }
  if (line.length > 0) yield line
}

const mostInLine = 100
const usualBytes = 65_536

/**
 * The outputs that were unspent at the end of the slot, by their ids: those that are unspent still, but for those that later slots
 * booked, and those that later slots consumed.
 */
async function* outputsAt(file: OpenFile, scanned: ScannedFile): AsyncGenerator<ProvenOutput> {
  const { slot } = scanned.commitment
  const reader = readerOf(file, 'outputs')
  reader.seek(scanned.outputs.offset)
  const consumed = consumedSince(file, scanned)
  let next = await consumed.next()
  let former = ''
  for (let left = scanned.outputs.count; left > 0; left--) {
    const at = reader.at()
    const output = await outputIn(reader)
    const { outputId } = output
    if (outputId <= former) reader.refuse('the outputs are not in the order of their ids', at)
    former = outputId
    while (next.done !== true && next.value.outputId <= outputId) {
      if (next.value.outputId === outputId) reader.refuse('the output is consumed too', at)
      yield next.value
      next = await consumed.next()
    }
    if (output.bookedSlot <= slot) yield output
  }
  for (; next.done !== true; next = await consumed.next()) yield next.value
}

/** By their ids. */
async function* consumedSince(
  file: OpenFile,
  { commitment, diffs }: ScannedFile,
): AsyncGenerator<ProvenOutput> {
  const places = inOrder(
    () => placesOfConsumed(file, diffs, commitment.slot),
    ({ offset }) => readerOf(file, 'slot diffs').refuse('the output is consumed twice', offset),
  )
  const reader = readerOf(file, 'slot diffs')
  for await (const { offset } of places) {
    reader.seek(offset)
    yield await outputIn(reader)
  }
}

async function* placesOfConsumed(
  file: OpenFile,
  { offset, count }: Place,
  slot: number,
): AsyncGenerator<KeyedPlace> {
  const reader = readerOf(file, 'slot diffs')
  reader.seek(offset)
  for (let diffs = count; diffs > 0; diffs--) {
    reader.skip(4)
    for (let left = await reader.u32(); left > 0; left--) await skipOutput(reader)
    for (let left = await reader.u32(); left > 0; left--) {
      const at = reader.at()
      const head = await reader.take(outputHeadBytes)
      reader.seek(at)
      await skipOutput(reader)
      reader.skip(36)
      const isEarlier = head.readUInt32LE(74) <= slot
      if (isEarlier) yield { key: head.toString('hex', 0, 38), offset: at }
    }
  }
}

/** In the order of their ids, which a list has that was taken without rolling back. */
async function* accountsIn(file: OpenFile, { accounts }: ScannedFile): AsyncGenerator<AccountAt> {
  const reader = readerOf(file, 'accounts')
  reader.seek(accounts.offset)
  if (accounts.isAscending) {
    for (let left = accounts.count; left > 0; left--) yield await accountIn(reader)
    return
  }
  const places = inOrder(
    () => placesOfAccounts(file, accounts),
    ({ offset }) => readerOf(file, 'accounts').refuse('the account is there twice', offset),
  )
  for await (const { offset } of places) {
    reader.seek(offset)
    yield await accountIn(reader)
  }
}

async function* placesOfAccounts(
  file: OpenFile,
  { offset, count }: Place,
): AsyncGenerator<KeyedPlace> {
  const reader = readerOf(file, 'accounts')
  reader.seek(offset)
  for (let left = count; left > 0; left--) {
    const at = reader.at()
    const { accountId } = await accountIn(reader)
    yield { key: accountId, offset: at }
  }
}

async function accountIn(reader: FileReader): Promise<AccountAt> {
  const entry = accountEntryFrom(await accountBytesIn(reader))
  return { accountId: entry.accountId, entry }
}

/** Which state of its chain an output is, the file does not say: it counts as the first one. */
async function outputIn(reader: FileReader): Promise<ProvenOutput> {
  const head = await reader.take(outputHeadBytes)
  const outputId = hexIn(head, 0, 38) as OutputId
  const bytesAt = reader.at() + 4
  const bytes = Uint8Array.from(await reader.sized(4, mostOutputBytes))
  const proof = bytesToHex(await reader.sized(4, mostProofBytes))
  const output = decode(Output, bytes)
  if (!output.ok) {
    return reader.refuse(`output ${outputId} cannot be read: ${output.error.code}`, bytesAt)
  }
  return {
    outputId,
    blockId: hexIn(head, 38, 74) as BlockId,
    bookedSlot: head.readUInt32LE(74),
    bytes,
    chainOrdinal: chainOf(outputId, output.value) === undefined ? undefined : 1,
    proof,
  }
}

function hexIn(bytes: Buffer, from: number, to: number): Hex {
  return `0x${bytes.toString('hex', from, to)}`
}

function readerOf({ handle, size }: OpenFile, part: string): FileReader {
  const reader = createFileReader(handle, size)
  reader.enter(part)
  return reader
}
