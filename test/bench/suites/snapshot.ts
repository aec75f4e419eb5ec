import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { printTable } from '../measure.ts'
import type { StepFigures, StepOptions } from '../scale/snapshot-steps.ts'

/**
 * Measures the cost of snapshots: writing, checking and receiving one with proofs, and checking and receiving it as a file of
 * iota-core, each step in its own process. `--outputs N` sets the numbers of unspent outputs of the ledgers, separated by commas;
 * `BENCH_DATABASE` selects one of the two databases.
 */

const defaultSizes = [10_000, 100_000]
const program = fileURLToPath(new URL('../scale/snapshot-steps.ts', import.meta.url))

/** Measures each size on both databases. */
export async function run(words: readonly string[]): Promise<void> {
  const [flag, given] = words
  const sizes = flag === '--outputs' && given ? given.split(',').map(Number) : defaultSizes
  const only = process.env.BENCH_DATABASE
  const kinds = ['sqlite', 'postgresql'].filter((kind) => (only ?? kind) === kind)
  const settings = ['shared_buffers=512MB', 'max_wal_size=4GB']
  const server = kinds.includes('postgresql') ? await startPostgresql(settings) : undefined
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const urlOf = async (kind: string, name: string) => {
    if (kind === 'sqlite') return `file:${join(folder, `${name}.db`)}`
    await onServer(server?.url ?? '', `CREATE DATABASE ${name}`)
    return databaseUrl(server?.url ?? '', name)
  }
  const head = ['database', 'outputs', 'step', 'processor', 'main thread', 'by the clock']
  const rows: string[][] = [[...head, 'peak memory', 'stall']]
  try {
    for (const kind of kinds) {
      for (const outputs of sizes) {
        const file = join(folder, `snapshot_${kind}_${outputs}`)
        const from = { file, outputs, url: await urlOf(kind, `given_${outputs}`) }
        const into = { ...from, url: await urlOf(kind, `taken_${outputs}`) }
        const node = {
          ...into,
          file: `${file}.iota-core`,
          url: await urlOf(kind, `node_${outputs}`),
        }
        await step('make', from)
        for (const [name, options] of [
          ['write', from],
          ['check', from],
          ['receive', into],
          ['convert', from],
          ['check', node],
          ['receive', node],
        ] as const) {
          const of = options === node ? `${name} iota-core file` : name
          rows.push([kind, outputs.toLocaleString('en'), of, ...texts(await step(name, options))])
        }
        console.log(`${kind}, ${outputs}: ${(statSync(file).size / 1e6).toFixed(1)} MB`)
      }
    }
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
  printTable(rows)
}

async function step(name: string, options: StepOptions): Promise<StepFigures> {
  const words = [...process.execArgv, program, name, JSON.stringify(options)]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  return JSON.parse(stdout.trim())
}

function texts(step: StepFigures): string[] {
  const { processorMs, mainThreadMs, wallMs, peakMegabytes, stallMs } = step
  return [
    `${(processorMs / 1_000).toFixed(2)} s`,
    `${(mainThreadMs / 1_000).toFixed(2)} s`,
    `${(wallMs / 1_000).toFixed(2)} s`,
    `${peakMegabytes.toFixed(0)} MB`,
    `${stallMs.toFixed(0)} ms`,
  ]
}
