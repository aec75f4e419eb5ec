import type { Random } from '../../support/random.ts'
import type { Differences } from '../differences.ts'
import type { Records } from '../history/records.ts'
import type { Model } from '../model.ts'
import { compareAddresses } from './addresses.ts'
import { type Asking, askEach } from './ask.ts'
import { compareChains } from './chains.ts'
import { compareHistories } from './histories.ts'
import { compareLedger } from './ledger.ts'
import { comparePages } from './pages.ts'
import { compareAccounts, compareTotals } from './totals.ts'
import { compareUpdates } from './updates.ts'

/** Compares what a gateway answers with the model. Its ledger must stand still meanwhile. */
export async function compareAnswers(
  url: string,
  model: Model,
  comparison: {
    readonly random: Random
    readonly differ: Differences
    readonly records?: Pick<Records, 'versionsByChain'>
  },
): Promise<void> {
  const { records, ...others } = comparison
  const asking: Asking = { url, model, ...others }
  await compareUpdates(asking)
  await compareAddresses(asking)
  await compareLedger(asking)
  await compareChains(asking)
  await compareTotals(asking)
  await compareAccounts(asking)
  await compareHistories(asking)
  if (records !== undefined) await compareRecords(asking, records)
}

async function compareRecords(
  asking: Asking,
  { versionsByChain }: Pick<Records, 'versionsByChain'>,
): Promise<void> {
  const fields = 'chainId version accessNodes isActive'
  const texts = new Map(
    [...versionsByChain].map(([chainId, versions]) => [
      chainId,
      versions.map((record, i) =>
        JSON.stringify({
          ...{ chainId, version: i + 1 },
          ...{ accessNodes: record.accessNodes, isActive: record.isActive },
        }),
      ),
    ]),
  )
  const textOf = (node: object) => JSON.stringify(node)
  const common = { node: fields, textOf, isSorted: false }
  await comparePages(asking, {
    ...common,
    what: 'chain records',
    oldest: [...texts.keys()].sort().map((chain) => texts.get(chain)?.at(-1) ?? ''),
    query: (args, selection) => `{ chainRecords${args} ${selection} }`,
  })
  for (const [chainId, versions] of texts) {
    await comparePages(asking, {
      ...common,
      what: `versions of the record of ${chainId}`,
      oldest: versions.toReversed(),
      query: (args, selection) =>
        `{ chainRecord(chainId: "${chainId}") { versions${args} ${selection} } }`,
    })
  }
  const newest = await askEach(
    asking.url,
    [...texts.keys()],
    (chainId) => `chainRecord(chainId: "${chainId}") { ${fields} }`,
  )
  asking.differ.equal(
    'newest chain records',
    newest.map(textOf),
    [...texts.values()].map((versions) => versions.at(-1)),
  )
}
