import { checkCommitments } from '../node/embedded/check-commitments.ts'
import { networkOf } from '../protocol/network.ts'
import { checkBalances } from '../store/check/check-balances.ts'
import { checkActivity, checkCounts } from '../store/check/check-counters.ts'
import { checkLog } from '../store/check/check-log.ts'
import type { CheckReport, Finding } from '../store/check/findings.ts'
import { readLedger } from '../store/check/read-ledger.ts'
import { onSnapshot } from '../store/check/snapshot.ts'
import { parametersIn } from '../store/output-index.ts'
import type { Writing } from '../store/sql/statements.ts'
import { asksForHelp, type Command, done, type ProcessIo, settingTable } from './command.ts'
import { createProgress } from './progress.ts'
import { databaseSettings, moveWith } from './with-database.ts'

/** Checks a whole database. */
export const check: Command = {
  help: `Checks a whole ledger as of one moment, and changes nothing; a gateway may go on writing meanwhile:

  every history hash and position of the log, and its outputs
  every commitment: its id, the one before it, its range of the log, its price and its roots,
    which are computed anew from what was booked in each slot; the kept tries page by page
  the balances of every address against its unspent outputs
  counters against what they count: unspent outputs, ranges of balances, chains, activity

Memory: some 500 bytes for each address that owns something, some 100 for each unspent output.

Usage: ledger-gateway check [FLAGS]

${settingTable(databaseSettings)}

A line for each finding: its code, and where it is. The exit code is 0 where nothing was found, and 1
where something was, or the check could not be made.
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(check.help)
      return done
    }
    const call = { name: 'check', words, flags: [], schema: 'UNCHANGED' } as const
    return moveWith(process, call, async (database, { signal }) => {
      try {
        const found = await onSnapshot(database, (reading) => checkAll(process, reading, signal))
        return found
      } catch (failure) {
        if (signal.aborted) return 'interrupted'
        throw failure
      }
    })
  },
}

async function checkAll(
  process: ProcessIo,
  reading: Writing,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { tx } = reading
  const network = await tx.network.findUnique({ where: { id: 1n } })
  const newest = await tx.commitment.findFirst({ orderBy: { slot: 'desc' } })
  if (network === null || newest === null) return 'the database holds no ledger'
  const parameters = parametersIn(network.parameters)
  const at = { parameters, slot: Number(newest.slot) }
  const updates = await tx.ledgerUpdate.count()
  const outputs = await tx.unspentOutput.count()
  const ofRows = 2 * updates + (await tx.commitment.count()) + outputs
  const findings: Finding[] = []
  const progress = createProgress(process, 'check')
  let rows = 0
  const report: CheckReport = {
    found: (code, place) => {
      findings.push({ code, at: place })
      if (process.isTerminal) process.stdout(`${code} ${place}\n`)
    },
    advance: (more) => {
      rows += more
      progress.tell({ rows, ofRows })
    },
    signal,
  }
  await checkLog(reading, report)
  await checkCommitments(readLedger(reading), networkOf(parameters), report)
  await checkBalances(reading, at, report)
  await checkCounts(reading, at, report)
  await checkActivity(reading, report)
  const result = { slot: at.slot, updates, findings }
  if (!process.isTerminal) process.stdout(`${JSON.stringify(result)}\n`)
  else if (findings.length === 0) process.stdout(`Nothing is wrong up to slot ${at.slot}.\n`)
  return findings.length === 0 ? undefined : `${findings.length} findings`
}
