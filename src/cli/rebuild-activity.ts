import { hostname } from 'node:os'
import { pid } from 'node:process'
import { silentLog } from '../lib/log.ts'
import { awaitLease } from '../node/lease.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { createWriter } from '../store/writer.ts'
import { asksForHelp, type Command, done, settingTable } from './command.ts'
import { createProgress } from './progress.ts'
import { databaseSettings, moveWith } from './with-database.ts'

/** Counts the activity of a ledger anew. */
export const rebuildActivity: Command = {
  help: `Counts what the query activity shows anew, from the log of ledger updates and the blocks: blocks,
transactions, tokens and addresses in each minute, hour, day and epoch. Spans that begin before the log
that LOG_RETENTION keeps stay as they are. No gateway may write the database meanwhile. When it
is interrupted, the next start of the gateway counts the rest.

Usage: ledger-gateway rebuild-activity [FLAGS]

${settingTable(databaseSettings)}
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(rebuildActivity.help)
      return done
    }
    const call = { name: 'rebuild-activity', words, flags: [] }
    return moveWith(process, call, async (database, { signal }) => {
      if ((await database.reader.network.count()) === 0) return 'the database holds no ledger'
      const write = createWriter(database, createSerialQueue())
      const lease = await awaitLease({ write, log: silentLog, holder: `${hostname()}:${pid}` })
      if (!lease.ok) return `another process (${lease.error.holder}) writes this database`
      const { term, renew, release } = lease.value
      const progress = createProgress(process, 'rebuild-activity')
      const ofRows = await database.reader.ledgerUpdate.count()

      async function rebuild(): Promise<string | undefined> {
        const forgotten = await write.forgetActivity(term)
        if (!forgotten.ok) return takenOver
        let rows = 0
        for (let isDone = false; !isDone; ) {
          if (signal.aborted) return 'interrupted; the next start of the gateway counts the rest'
          const renewed = await renew()
          const piece = renewed.ok ? await write.fillActivity(term, { rows: 10_000 }) : renewed
          if (!piece.ok) return takenOver
          isDone = piece.value.isDone
          rows += piece.value.rows
          progress.tell({ rows, ofRows })
        }
        progress.finish({ rows, ofRows })
        return undefined
      }

      return rebuild().finally(release)
    })
  },
}

const takenOver = 'another process took over this database'
