import { bytesToHex, type Hex } from '../../../lib/hex.ts'
import { ProtocolParameters } from '../../../protocol/parameters.ts'
import { encode } from '../../../protocol/schema/schema.ts'
import { inLines } from '../line-rows.ts'
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

/** Converts a snapshot file of iota-core to the lines of a snapshot of this program, so that both use the same checks. */

/** The file is a snapshot of the genesis slot, whose commitment has no roots. */
export class SnapshotOfGenesis extends Error {
  constructor() {
    super('the snapshot is of the genesis slot, whose commitment does not cover any output')
    this.name = 'SnapshotOfGenesis'
  }
}

/** The lines of the file at a path. Throws if it is not a file of iota-core, or if it is out of order. */
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
 * The head of a file. The file has no log: the log starts after the slot, and each slot of the head gets one log position, so that
 * none of them reports that it changed nothing.
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

/** A placeholder: a follower creates its own log id. */
const noLog: Hex = `0x${'00'.repeat(8)}`
