import { type FileHandle, open } from 'node:fs/promises'
import { accountEntryFrom } from '../../../ledger/accounts.ts'
import { chainOf } from '../../../ledger/chain-states.ts'
import { bytesToHex, type Hex } from '../../../lib/hex.ts'
import { Output } from '../../../protocol/outputs.ts'
import type { BlockId, OutputId } from '../../../protocol/primitives.ts'
import { decode } from '../../../protocol/schema/schema.ts'
import type { AccountAt, SnapshotOutput } from '../../../store/ledger-snapshot-contract.ts'
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

/** A snapshot file of iota-core, and what it holds of the ledger at the end of its slot, read as it is asked for. */

/** An output with the proof of its contents, which was not looked at. */
export interface FileOutput extends SnapshotOutput {
  readonly proof: Hex
}

/** An open file, whose form was checked. */
export interface IotaCoreFile {
  readonly scanned: ScannedFile
  /** The unspent outputs, by their ids. */
  outputs(): AsyncGenerator<FileOutput>
  /** By their ids. */
  accounts(): AsyncGenerator<AccountAt>
  close(): Promise<void>
}

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

/** Opens a file and reads it once. Throws where it is none. */
export async function openIotaCoreFile(path: string): Promise<IotaCoreFile> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const file = { handle, size }
    const scanned = await scanFile(createFileReader(handle, size), size)
    return {
      scanned,
      outputs: () => outputsAt(file, scanned),
      accounts: () => accountsIn(file, scanned),
      close: () => handle.close(),
    }
  } catch (failure) {
    await handle.close()
    throw failure
  }
}

interface OpenFile {
  readonly handle: FileHandle
  readonly size: number
}

/**
 * The outputs that were unspent at the end of the slot, by their ids: those that are unspent still, but for those that later slots
 * booked, and those that later slots consumed.
 */
async function* outputsAt(file: OpenFile, scanned: ScannedFile): AsyncGenerator<FileOutput> {
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
): AsyncGenerator<FileOutput> {
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
async function outputIn(reader: FileReader): Promise<FileOutput> {
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
    output: output.value,
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
