import { type FileHandle, open } from 'node:fs/promises'
import { accountEntryFrom } from '../../../ledger/accounts.ts'
import { chainOf } from '../../../ledger/chain-states.ts'
import { bytesToHex, type Hex } from '../../../lib/hex.ts'
import { Output } from '../../../protocol/outputs.ts'
import type { BlockId, OutputId } from '../../../protocol/primitives.ts'
import { decode } from '../../../protocol/schema/schema.ts'
import type { AccountAt, SnapshotOutput } from '../../../store/contract/ledger-snapshot.ts'
import { createFileReader, type FileReader } from './file-reader.ts'
import { inOrder, type KeyedPlace } from './in-order.ts'
import {
  accountBytesIn,
  isFileOfIotaCore,
  maxOutputBytes,
  maxProofBytes,
  outputHeadBytes,
  type Place,
  type ScannedFile,
  scanFile,
  skipOutput,
} from './scan-file.ts'

/** Reads the ledger at the end of its slot from a snapshot file of iota-core, on demand. */

/** An output with the unchecked proof of its content. */
export interface FileOutput extends SnapshotOutput {
  readonly proof: Hex
}

/** An open file with a checked structure. */
export interface IotaCoreFile {
  readonly scanned: ScannedFile
  /** The unspent outputs, in the order of their ids. */
  outputs(): AsyncGenerator<FileOutput>
  /** The accounts, in the order of their ids. */
  accounts(): AsyncGenerator<AccountAt>
  close(): Promise<void>
}

/** Whether a file is a snapshot file of iota-core. Throws if the file cannot be opened. */
export async function isWrittenByIotaCore(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && isFileOfIotaCore(buffer)
  } finally {
    await handle.close()
  }
}

/** Opens a file and scans it once. Throws if it is not a snapshot file of iota-core. */
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
 * The outputs that were unspent at the end of the slot, in the order of their ids: the outputs of the list, without the outputs that
 * later slots created, and the outputs that later slots consumed.
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
      if (next.value.outputId === outputId) reader.refuse('the output is also consumed', at)
      yield next.value
      next = await consumed.next()
    }
    if (output.bookedSlot <= slot) yield output
  }
  for (; next.done !== true; next = await consumed.next()) yield next.value
}

/** The outputs that later slots consumed, in the order of their ids. */
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

/** The accounts in the order of their ids. A list that the node wrote without rolling back already has this order. */
async function* accountsIn(file: OpenFile, { accounts }: ScannedFile): AsyncGenerator<AccountAt> {
  const reader = readerOf(file, 'accounts')
  reader.seek(accounts.offset)
  if (accounts.isAscending) {
    for (let left = accounts.count; left > 0; left--) yield await accountIn(reader)
    return
  }
  const places = inOrder(
    () => placesOfAccounts(file, accounts),
    ({ offset }) => readerOf(file, 'accounts').refuse('the account is listed twice', offset),
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

/** Reads an output. The file does not contain its position in its chain: every chain output counts as the first one. */
async function outputIn(reader: FileReader): Promise<FileOutput> {
  const head = await reader.take(outputHeadBytes)
  const outputId = hexIn(head, 0, 38) as OutputId
  const bytesAt = reader.at() + 4
  const bytes = Uint8Array.from(await reader.sized(4, maxOutputBytes))
  const proof = bytesToHex(await reader.sized(4, maxProofBytes))
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
