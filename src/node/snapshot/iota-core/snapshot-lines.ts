import { bytesToHex, type Hex } from '../../../lib/hex.ts'
import { ProtocolParameters } from '../../../protocol/parameters.ts'
import { encode } from '../../../protocol/schema/schema.ts'
import {
  firstCheck,
  type ProvenOutput,
  type SnapshotHead,
  type SnapshotPart,
  snapshotFormat,
  snapshotLine,
  snapshotVersion,
} from '../snapshot-format.ts'
import { type IotaCoreFile, openIotaCoreFile } from './open-file.ts'
import type { ScannedFile } from './scan-file.ts'

/** A snapshot file of iota-core as the lines of a snapshot of this program, so that both are checked and received alike. */

/** The genesis slot has no roots that its commitment would stand for. */
export class SnapshotOfGenesis extends Error {
  constructor() {
    super('the snapshot is that of the genesis, whose commitment stands for no output')
    this.name = 'SnapshotOfGenesis'
  }
}

/** The lines of the file at a path. Throws where it is none of iota-core, or not in order. */
export async function* linesOfIotaCore(path: string): AsyncGenerator<string> {
  const file = await openIotaCoreFile(path)
  try {
    let check = firstCheck
    for await (const part of partsOf(file)) {
      const line = snapshotLine(check, part)
      check = line.check
      yield line.text
    }
  } finally {
    await file.close()
  }
}

async function* partsOf(file: IotaCoreFile): AsyncGenerator<SnapshotPart> {
  yield { section: 'head', head: headOf(file.scanned) }
  for await (const rows of inLines(file.outputs(), sizeOf)) yield { section: 'outputs', rows }
  for await (const rows of inLines(file.accounts(), () => 0)) yield { section: 'accounts', rows }
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
