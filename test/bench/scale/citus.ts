import { citusUrl, createOnCitus, distributed } from '../../support/citus.ts'
import { databaseUrl, onServer } from '../../support/postgresql-server.ts'
import { addressOf, busyAddress } from '../large-log.ts'
import { median, printTable } from '../measure.ts'
import {
  commitTimes,
  growSubject,
  milliseconds,
  pageTimes,
  type Subject,
  samples,
} from '../store-subject.ts'
import { transfers } from '../transfers.ts'

/**
 * What Citus costs, its servers on the cores of the coordinator: a database of the coordinator without Citus, one with Citus and nothing
 * distributed, and one whose log is in four shards. `TEST_CITUS_URL` names the coordinator.
 */
export async function measureCitus(rows: number, rounds: number): Promise<void> {
  if (citusUrl === undefined) {
    console.log('\nTEST_CITUS_URL names no coordinator of Citus: left out')
    return
  }
  const subjects: Subject[] = []
  const plain = `bench_${process.pid}`
  const removals = [() => onServer(String(citusUrl), `DROP DATABASE ${plain} WITH (FORCE)`)]
  await onServer(citusUrl, 'SET citus.enable_create_database_propagation = off')
  await onServer(citusUrl, `CREATE DATABASE ${plain}`)
  try {
    subjects.push(
      await growSubject(databaseUrl(citusUrl, plain), { size: rows, name: 'without Citus' }),
    )
    for (const name of ['nothing distributed', 'in four shards']) {
      const { url, remove } = await createOnCitus()
      removals.push(remove)
      subjects.push(await growSubject(url, { size: rows, name }))
      if (name === 'nothing distributed') continue
      const { store, settle } = subjects.at(-1) as Subject
      const begun = performance.now()
      await distributed(url, store)
      console.log(`distributed after ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
      await settle()
    }
    for (let round = 1; round <= rounds; round++) {
      console.log(`\n${rows} rows, round ${round}: committing slots of ${transfers} transfers`)
      printTable(await commitTimes(subjects))
      console.log('\npages at random places, median')
      printTable(await pageTimes(subjects))
      console.log('\nwhat is asked most, median')
      printTable(await askedTimes(subjects, rows))
    }
  } finally {
    for (const subject of subjects) await subject.close()
    for (const remove of removals) await remove()
  }
}

async function askedTimes(subjects: readonly Subject[], rows: number): Promise<string[][]> {
  const newest = { after: 0, before: Number.MAX_SAFE_INTEGER, order: 'descending' } as const
  const page = { ...newest, class: 'OWNED', limit: 21 } as const
  const heldBy = addressOf(7)
  const questions: readonly ((subject: Subject) => Promise<unknown>)[] = [
    ({ store }) => store.read.logTip(),
    ({ store }) => store.read.addressPage({ ...page, address: busyAddress }),
    ({ store }) => store.read.addressPage({ ...page, address: addressOf(2 * rows) }),
    ({ store }) => store.read.unspentOutputs({ filter: { asOf: 'COMMITTED', heldBy }, limit: 100 }),
  ]
  const times = subjects.map(() => questions.map(() => [] as number[]))
  for (let n = 0; n < samples; n++) {
    for (const [i, subject] of subjects.entries()) {
      for (const [k, ask] of questions.entries()) {
        const begun = performance.now()
        await ask(subject)
        times[i]?.[k]?.push(performance.now() - begun)
      }
    }
  }
  const medians = times.map((each) => each.map(median))
  const toFirst = (i: number) =>
    questions.map((_, k) => ((medians[i]?.[k] ?? 0) / (medians[0]?.[k] ?? 1)).toFixed(2))
  return [
    ['database', 'tip', 'page of an address', 'of one without rows', 'unspent outputs'],
    ...subjects.map(({ name }, i) => [name, ...(medians[i] ?? []).map(milliseconds)]),
    ...subjects.slice(1).map(({ name }, i) => [`${name}: ratio`, ...toFirst(i + 1)]),
  ]
}
