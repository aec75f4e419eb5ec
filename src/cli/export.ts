import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { stdout } from 'node:process'
import { exportDatabase } from '../store/move/export.ts'
import { asksForHelp, type Command, done, settingTable, table } from './command.ts'
import { createProgress } from './progress.ts'
import { databaseSettings, moveWith } from './with-database.ts'

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
    return moveWith(process, { name: 'export', words }, async (database, { path, signal }) => {
      const out = path === undefined ? stdout : createWriteStream(path, { flags: 'wx' })
      const broken = new Promise<never>((_, reject) => void out.once('error', reject))
      const write = async (line: string) => {
        if (!out.write(line)) await Promise.race([once(out, 'drain'), broken])
      }
      const progress = createProgress(process, 'export')
      const moved = await Promise.race([
        exportDatabase(database, { write, signal, onProgress: progress.tell }),
        broken,
      ])
      if (path !== undefined) {
        out.end()
        await Promise.race([once(out, 'finish'), broken])
      }
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
