import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { snapshotHead } from '../node/embedded/snapshot-head.ts'
import { wholeSnapshot } from '../node/snapshot/read-snapshot.ts'
import type { SnapshotPosition } from '../node/snapshot/snapshot-format.ts'
import { snapshotSource } from '../node/snapshot/snapshot-source.ts'
import { verifySnapshot } from '../node/snapshot/verify-snapshot.ts'
import { networkOf } from '../protocol/network.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import { decodeStored } from '../protocol/stored.ts'
import type { Database } from '../store/database.ts'
import { createReader } from '../store/reader.ts'
import { createSnapshots } from '../store/snapshots.ts'
import type { ProcessIo } from './command.ts'
import { snapshotDeclaration } from './declarations/ledger.ts'
import { createProgress, type Progress } from './progress.ts'
import { snapshotMessage } from './snapshot-message.ts'
import { writeWholeFile } from './whole-file.ts'
import { type DatabaseCall, databaseCommand, withLedger } from './with-database.ts'

/** Writes and checks snapshots of a ledger. */
export const snapshot = databaseCommand(snapshotDeclaration, (process, given) => {
  const call = { ...given, file: given.word(1) }
  return call.word(0) === 'check'
    ? check(process, call)
    : withLedger(call.url, (database) => write(process, call, database))
})

interface FileCall extends DatabaseCall {
  readonly file: string
}

async function check(
  process: ProcessIo,
  { file, signal, print }: FileCall,
): Promise<string | undefined> {
  const progress = createProgress(process, 'snapshot', 'lines')
  const source = snapshotSource(file)
  const counted = {
    ...source,
    lines: (from?: SnapshotPosition) => counting(source.lines(from), progress, signal),
  }
  const verified = await verifySnapshot(counted).finally(progress.end)
  if (signal.aborted) return 'interrupted'
  if (!verified.ok) return snapshotMessage(verified.error)
  const { head, counts } = verified.value
  const { outputs, accounts, tips } = counts
  const { networkName } = head.network.parameters
  const { slot, commitmentId } = head.milestone
  const text = `network ${networkName}
slot ${slot}
commitment ${commitmentId}
${outputs} unspent outputs, ${accounts} accounts, ${tips} tips of histories
`
  print(text, { file: resolve(file), network: networkName, slot, commitmentId, ...counts })
  return undefined
}

async function write(
  process: ProcessIo,
  { file, signal, print }: FileCall,
  database: Database,
): Promise<string | undefined> {
  const row = await createReader(database).network()
  if (row === undefined) return 'the database holds no ledger'
  const parameters = decodeStored(ProtocolParameters, row.parameters)
  const { read, head } = await openHead(database, parameters)
  if (!head.ok) return 'the database holds no embedded ledger, or no slot of it yet'
  const { slot } = head.value
  if (existsSync(file)) return `${file} already exists`
  const progress = createProgress(process, 'snapshot', 'lines')
  const lines = counting(wholeSnapshot(read, head.value, parameters), progress, signal)
  const problem = await writeWholeFile({ path: file, existing: 'KEPT' }, async (out) => {
    await pipeline(lines, out, { signal }).catch((error) => {
      if (!signal.aborted) throw error
    })
    return signal.aborted ? 'interrupted; no snapshot was written' : undefined
  }).finally(progress.end)
  if (problem !== undefined) return problem
  print(`${resolve(file)} is a snapshot of slot ${slot}.\n`, { file: resolve(file), slot })
  return undefined
}

/** Forwards lines until the signal aborts, and shows their number as progress; the total is not known before the end. */
async function* counting(
  lines: AsyncIterable<string>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let rows = 0
  for await (const line of lines) {
    signal.throwIfAborted()
    rows += 1
    progress.show({ rows, ofRows: undefined })
    yield line
  }
}

async function openHead(database: Database, parameters: ProtocolParameters) {
  const read = createReader(database)
  const snapshots = createSnapshots(database, read)
  const head = await snapshotHead({ snapshot: snapshots.begin }, networkOf(parameters))
  snapshots.close()
  return { read, head }
}
