import { checkCommitments } from '../node/embedded/check-commitments.ts'
import { networkOf } from '../protocol/network.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import { decodeStored } from '../protocol/stored.ts'
import { checkBalances } from '../store/check/check-balances.ts'
import { checkActivity, checkCounts } from '../store/check/check-counters.ts'
import { checkLog, readRetainedRange } from '../store/check/check-log.ts'
import type { CheckReport, Finding } from '../store/check/findings.ts'
import { readLedger } from '../store/check/read-ledger.ts'
import { onSnapshot } from '../store/check/snapshot.ts'
import type { Writing } from '../store/sql/statements.ts'
import { checkDeclaration } from './declarations/ledger.ts'
import { createProgress, type Progress } from './progress.ts'
import { type DatabaseCall, databaseCommand, withLedger } from './with-database.ts'

/** Checks the whole ledger in a database. */
export const check = databaseCommand(checkDeclaration, (process, call) =>
  withLedger(call.url, async (database) => {
    const progress = createProgress(process, 'check')
    const printLine = (line: string) => progress.above(() => process.stdout(line))
    const work = (reading: Writing) => checkAll(reading, { ...call, progress, printLine })
    try {
      return await onSnapshot(database, work).finally(progress.end)
    } catch (failure) {
      if (call.signal.aborted) return 'interrupted'
      throw failure
    }
  }),
)

interface Checking extends DatabaseCall {
  readonly progress: Progress
  /** Prints a line above the progress bar. */
  printLine(line: string): void
}

async function checkAll(
  reading: Writing,
  { progress, printLine, signal, isJson, print }: Checking,
): Promise<string | undefined> {
  const { tx } = reading
  const network = await tx.network.findUnique({ where: { id: 1n } })
  const newest = await tx.commitment.findFirst({ orderBy: { slot: 'desc' } })
  if (network === null || newest === null) return 'the database holds no ledger'
  const parameters = decodeStored(ProtocolParameters, network.parameters)
  const at = { parameters, slot: Number(newest.slot) }
  const { hidden, upTo } = await readRetainedRange(reading)
  const seq = { gt: BigInt(hidden), ...(upTo === undefined ? {} : { lte: BigInt(upTo) }) }
  const isAll = hidden === 0 && upTo === undefined
  const updates = await tx.ledgerUpdate.count(isAll ? undefined : { where: { seq } })
  const outputs = await tx.unspentOutput.count()
  const ofRows = 2 * updates + (await tx.commitment.count()) + outputs
  const findings: Finding[] = []
  let rows = 0
  const report: CheckReport = {
    found: (code, place) => {
      findings.push({ code, at: place })
      if (!isJson) printLine(`${code} ${place}\n`)
    },
    advance: (more) => {
      rows += more
      progress.show({ rows, ofRows })
    },
    signal,
  }
  await checkLog(reading, report)
  await checkCommitments(readLedger(reading), networkOf(parameters), report)
  await checkBalances(reading, at, report)
  await checkCounts(reading, at, report)
  await checkActivity(reading, report)
  const result = { slot: at.slot, updates, findings }
  progress.end()
  print(findings.length === 0 ? `No problems found up to slot ${at.slot}.\n` : '', result)
  return findings.length === 0 ? undefined : `${findings.length} findings`
}
