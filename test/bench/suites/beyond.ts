import type { AddressPageQuery } from '../../../src/store/rows.ts'
import { partitioned } from '../../support/partitioned.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { addressesFor, addressOf, busyAddress } from '../large-log.ts'
import { median, printTable } from '../measure.ts'
import { measureCitus } from '../scale/citus.ts'
import {
  commitTimes,
  growSubject,
  milliseconds,
  pageTimes,
  type Subject,
  samples,
  serverSettings,
} from '../store-subject.ts'
import { transfers } from '../transfers.ts'

/**
 * What a PostgreSQL costs that is prepared for growth beyond one machine: the log in ten partitions against the log in one table, all on
 * the same cores, so that costs are seen and no gain; and Citus. `BENCH_ROWS` is the number of rows, `BENCH_ROUNDS` how often each is measured
 * in turns; `BENCH_ONLY=citus` leaves the partitions out.
 */

const rows = Number(process.env.BENCH_ROWS ?? 10_000_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const partitions = 10

/** With the tip, the count and what is behind it, as the API asks. */
async function newestPageTimes(subjects: readonly Subject[]): Promise<string[][]> {
  const newest = { after: 0, before: Number.MAX_SAFE_INTEGER, order: 'descending' } as const
  const page = { ...newest, class: 'OWNED', limit: 21 } as const
  const somewhere = () => Math.ceil(Math.random() * rows * 0.99)
  const questions: readonly (() => AddressPageQuery)[] = [
    () => ({ ...page, address: busyAddress }),
    () => {
      const before = somewhere()
      const cursors = { behind: [before, newest.before], seqs: [before, 0] } as const
      return { ...page, address: busyAddress, before, cursors }
    },
    () => ({ ...page, address: addressOf(1 + (somewhere() % (addressesFor(rows) - 1))) }),
    // Behind all that the log has.
    () => ({ ...page, address: addressOf(2 * rows + somewhere()) }),
  ]
  const times = subjects.map(() => questions.map(() => [] as number[]))
  for (let n = 0; n < samples; n++) {
    for (const [i, { store }] of subjects.entries()) {
      for (const [k, questionOf] of questions.entries()) {
        const question = questionOf()
        const begun = performance.now()
        await store.read.addressPage(question)
        times[i]?.[k]?.push(performance.now() - begun)
      }
    }
  }
  const medians = times.map((each) => each.map(median))
  const ratios = questions.map((_, k) => (medians[1]?.[k] ?? 0) / (medians[0]?.[k] ?? 1))
  return [
    ['log', 'of a busy address', 'at a cursor', 'some ten rows', 'no rows'],
    ...subjects.map(({ name }, i) => [name, ...(medians[i] ?? []).map(milliseconds)]),
    ['ratio', ...ratios.map((ratio) => ratio.toFixed(2))],
  ]
}

/** Prints a table for each question, round by round. */
export async function run(): Promise<void> {
  if (process.env.BENCH_ONLY !== 'citus') await runPartitions()
  await measureCitus(rows, rounds)
}

async function runPartitions(): Promise<void> {
  const server = await startPostgresql(serverSettings)
  const subjects: Subject[] = []

  async function grow(name: string): Promise<string> {
    const database = `bench_${name.replaceAll(' ', '_')}`
    await onServer(server.url, `CREATE DATABASE ${database}`)
    const url = databaseUrl(server.url, database)
    subjects.push(await growSubject(url, { size: rows, name }))
    return url
  }

  try {
    await grow('in one table')
    const url = await grow('in ten partitions')
    const begun = performance.now()
    const ranges = await partitioned(url, { rows: rows / partitions, isSplit: true })
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
    console.log(`partitioned and split into ${ranges.length} ranges after ${seconds} s`)
    await subjects.at(-1)?.settle()
    console.log('\npages of GraphQL, the newest first')
    printTable(await newestPageTimes(subjects))
    for (let round = 1; round <= rounds; round++) {
      console.log(`\n${rows} rows, round ${round}: pages at random places, median`)
      printTable(await pageTimes(subjects))
      console.log(`\ncommitting slots of ${transfers} transfers`)
      printTable(await commitTimes(subjects))
    }
    console.log('\npages of GraphQL, of addresses that the newest partition does not have')
    printTable(await newestPageTimes(subjects))
  } finally {
    for (const subject of subjects) await subject.close()
    await server.stop()
  }
}
