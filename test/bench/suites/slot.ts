import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { median, printTable } from '../measure.ts'
import type { SlotFigures, SlotOptions } from '../scale/slot-steps.ts'

/**
 * What the commit of one large slot does to others: how long it holds the event loop, how long a reader waits, and how much memory
 * it takes. The words are numbers of transfers, `1000x20` is twenty slots of 1,000 one after another; `BENCH_DATABASE` measures one of the two databases alone, and `BENCH_ROUNDS`
 * says how often each.
 */

const sizes = ['1000', '1000x20', '10000', '100000']
const rounds = Number(process.env.BENCH_ROUNDS ?? 1)
const program = fileURLToPath(new URL('../scale/slot-steps.ts', import.meta.url))

/** Measures each size on both databases; of several rounds the medians. */
export async function run(words: readonly string[]): Promise<void> {
  const only = process.env.BENCH_DATABASE
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const server = only === 'sqlite' ? undefined : await startPostgresql(['shared_buffers=512MB'])
  const times = ['commit', 'processor', 'main thread', 'longest turn', 'by the clock']
  const head = ['database', 'transfers', ...times, 'p99', 'longest read', 'memory before', 'most']
  const rows = [head]
  try {
    for (const size of words.length === 0 ? sizes : words) {
      const [transfers = 0, slots = 1] = size.split('x').map(Number)
      for (const kind of ['sqlite', 'postgresql'].filter((one) => (only ?? one) === one)) {
        const figures: SlotFigures[] = []
        for (let round = 0; round < rounds; round++) {
          const name = `slot_${size}_${round}`
          let url = `file:${join(folder, `${name}.db`)}`
          if (kind === 'postgresql' && server !== undefined) {
            await onServer(server.url, `CREATE DATABASE ${name}`)
            url = databaseUrl(server.url, name)
          }
          await step('book', { url, transfers, slots })
          figures.push(await step('commit', { url, transfers, slots }))
        }
        rows.push([kind, size, ...texts(figures)])
        console.log(rows.at(-1)?.join(' | '))
      }
    }
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
  printTable(rows)
}

async function step(name: string, options: SlotOptions): Promise<SlotFigures> {
  const words = [...process.execArgv, program, name, JSON.stringify(options)]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  return JSON.parse(stdout.trim())
}

function texts(figures: readonly SlotFigures[]): string[] {
  const middle = (of: keyof SlotFigures) => median(figures.map((one) => one[of]))
  return [
    ...(['commitMs', 'processorMs', 'mainThreadMs'] as const).map(
      (name) => `${(middle(name) / 1_000).toFixed(2)} s`,
    ),
    ...(['turnMs', 'heldMs', 'p99Ms', 'readMs'] as const).map(
      (name) => `${middle(name).toFixed(0)} ms`,
    ),
    ...(['before', 'most'] as const).map((name) => `${(middle(name) / 2 ** 20).toFixed(0)} MB`),
  ]
}
