import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { outputTrieChanges } from '../../../src/ledger/state-root.ts'
import { emptyTrie, type Trie, updateTrie } from '../../../src/ledger/trie.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { buildTries } from '../../../src/node/embedded/build-tries.ts'
import { stateMemoryOf } from '../../../src/node/embedded/state.ts'
import { openStoredTries } from '../../../src/node/embedded/stored-tries.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { allBuilt } from '../../../src/store/contract/trie.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { testGenesis } from '../../support/store-rows.ts'
import { median, printTable } from '../measure.ts'
import { growUnspent } from '../scale/unspent.ts'
import { type BookedSlot, bookSlot, createTransfers, transfers, unwrap } from '../transfers.ts'

/**
 * Measures the cost of the roots of slots: slots of transfers on ledgers with many unspent outputs, in alternation with the tries in
 * the database and with the former trie in memory. The arguments are numbers of outputs; `BENCH_DATABASE` selects one of the two
 * databases. The former trie takes more than a kilobyte per output. Above `maxInMemory` outputs its time is that of the size before, which
 * is less than it would take.
 */

const sizes = [100_000, 1_000_000]
const slotsMeasured = 12
const maxInMemory = 2_000_000
/** The number of unmeasured slots of each kind. The first slot has no outputs to spend. */
const warmUp = 3

/** Measures each size on its own database. */
export async function run(words: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const only = process.env.BENCH_DATABASE
  const server =
    only === 'sqlite'
      ? undefined
      : await startPostgresql(['shared_buffers=1GB', 'max_wal_size=4GB'])
  try {
    for (const kind of ['sqlite', 'postgresql']) {
      if (only !== undefined && only !== kind) continue
      const rows: string[][] = []
      let formerRootMs = 0
      for (const size of words.length === 0 ? sizes : words.map(Number)) {
        const name = `tries_${size}`
        if (kind === 'postgresql') await onServer(server?.url ?? '', `CREATE DATABASE ${name}`)
        const url =
          kind === 'sqlite'
            ? `file:${join(folder, `${name}.db`)}`
            : databaseUrl(server?.url ?? '', name)
        const { row, rootMs } = await measure(url, size, formerRootMs)
        formerRootMs = rootMs
        rows.push(row)
        console.log(row.join(' | '))
      }
      console.log(`\n${kind}: a slot of ${transfers} transfers, medians`)
      printTable([
        [
          'outputs',
          'build time',
          'stall',
          'root in memory',
          'commit',
          'roots in the database',
          'commit',
          'ratio of the sums',
          'pages',
          'stall',
        ],
        ...rows,
      ])
    }
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Measures one size. `formerRootMs` is the time of the trie in memory for a ledger that is too large for it. */
async function measure(url: string, size: number, formerRootMs: number) {
  const store = unwrap(await openStore({ url, log: silentLog }))
  const database = unwrap(await openDatabase({ url, log: silentLog }))
  const { term } = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  try {
    unwrap(await store.write.initialize(term, testGenesis()))
    await growUnspent(database, size)
    if (database.kind === 'postgresql') await database.writer.$queryRawUnsafe('VACUUM ANALYZE')
    const ended = new AbortController().signal
    const build = await timed(() => buildTries({ store, term, ended, onProgress: () => {} }))
    let naive = size > maxInMemory ? undefined : await naiveTrie(store.read)
    const { trieBytes } = stateMemoryOf(64)
    const tries = openStoredTries(store.read, trieBytes)
    const source = createTransfers(size, 'many')
    const figures = { root: [], formerCommit: [], roots: [], commit: [], pages: [], stall: [] } as {
      [figure: string]: number[]
    }
    for (let n = 0; n < 2 * (slotsMeasured + warmUp); n++) {
      const slot = await bookSlot({ store, term }, source)
      const isFormer = n % 2 === 0
      const former = await timed(async () => {
        if (naive !== undefined) naive = updateTrie(naive, changesOf(slot))
      })
      const kept = await timed(() => tries.update('outputs', changesOf(slot)))
      const changes = tries.changes()
      const commit = await timed(() => slot.commit(isFormer ? undefined : changes))
      const { slot: newest } = await store.read.latestMilestone()
      const pages = { slot: newest, built: allBuilt, isNew: false, put: changes.put }
      if (isFormer) unwrap(await store.write.buildTries(term, pages))
      await tries.written()
      if (n < 2 * warmUp) continue
      figures.root?.push(naive === undefined ? formerRootMs : former.ms)
      if (isFormer) {
        figures.formerCommit?.push(commit.ms)
        continue
      }
      figures.roots?.push(kept.ms)
      figures.commit?.push(commit.ms)
      figures.pages?.push(changes.put.length)
      figures.stall?.push(Math.max(kept.stallMs, commit.stallMs))
    }
    const [root = 0, formerCommit = 0, roots = 0, commit = 0, pages = 0, stall = 0] =
      Object.values(figures).map(median)
    const row = [
      size.toLocaleString('en'),
      `${(build.ms / 1_000).toFixed(1)} s`,
      ms(build.stallMs),
      ...[root, formerCommit, roots, commit].map(ms),
      ((roots + commit) / (root + formerCommit)).toFixed(2),
      `${pages}`,
      ms(stall),
    ]
    return { row, rootMs: root }
  } finally {
    await database.close()
    await store.close()
  }
}

function changesOf({ outputIds }: BookedSlot) {
  return outputTrieChanges(outputIds)
}

async function naiveTrie(read: Store['read']): Promise<Trie> {
  let trie = emptyTrie
  for (let after: OutputId | undefined; ; ) {
    const page = await read.unspentPage(after)
    after = page.at(-1)?.outputId
    if (after === undefined) return trie
    const created = page.map(({ outputId }) => outputId)
    trie = updateTrie(trie, outputTrieChanges({ created, consumed: [] }))
  }
}

/** The time of `work`, and the longest delay of the event loop meanwhile. */
async function timed(work: () => Promise<unknown>) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const begun = performance.now()
  await work()
  const took = performance.now() - begun
  delays.disable()
  return { ms: took, stallMs: Math.max(delays.max / 1e6, 0) }
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`
}
