import { createWriteStream } from 'node:fs'
import { stdout } from 'node:process'
import { asksForHelp, type Command, done, settingTable, table } from './command.ts'
import { createProgress } from './progress.ts'
import { databaseSettings, moveWith } from './with-database.ts'
import { endFile, writeExport } from './write-export.ts'

/** Writes a whole database as text. */
export const exportCommand: Command = {
  help: `Writes a whole database as text, as of one moment; a gateway may go on writing meanwhile.

Usage: ledger-gateway export [FLAGS]

${table([['--file PATH', 'a new file to write; standard output by default']])}
${settingTable(databaseSettings)}

For example, from a file to a server:

  ledger-gateway export --file ledger.export
  DATABASE_URL=postgresql://USER:PASSWORD@HOST:PORT/DATABASE \\
    ledger-gateway import --file ledger.export
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(exportCommand.help)
      return done
    }
    const call = { name: 'export', words, schema: 'UNCHANGED' } as const
    return moveWith(process, call, async (database, { path, signal }) => {
      const out = path === undefined ? stdout : createWriteStream(path, { flags: 'wx' })
      const progress = createProgress(process, 'export')
      const moved = await writeExport(database, out, { signal, onProgress: progress.tell })
      if (path !== undefined) await endFile(out)
      if (moved.ok) {
        progress.finish(moved.value)
        return undefined
      }
      return moved.error.code === 'NOTHING_TO_EXPORT'
        ? 'the database holds no ledger'
        : 'interrupted; what was written is not whole'
    })
  },
}
