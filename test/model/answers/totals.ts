import { epochOfSlot, slotStart } from '../../../src/protocol/slots.ts'
import { balancesAt, unspentAt } from '../../support/balance-model.ts'
import { graphql } from '../../support/client.ts'
import { activityOf } from '../activity.ts'
import { type Asking, textOf } from './ask.ts'
import { comparePages } from './pages.ts'

/** Compares what is counted over the whole ledger: its status, the richest addresses and the activity. */
export async function compareTotals(asking: Asking): Promise<void> {
  const { url, model, differ } = asking
  const { committed, parameters } = model.ledger
  const query = `{
    status { addresses unspentOutputs accounts baseTokenSupply newestMilestone { index } }
    minutes: activity(resolution: MINUTE) { ${activityFields} }
    epochs: activity(resolution: EPOCH) { ${activityFields} }
  }`
  const { data, errors } = await graphql(url, query)
  if (errors !== undefined) throw new Error(errors[0]?.message)
  const unspent = unspentAt(model.outputs, committed)
  const balances = balancesAt(model.outputs, committed, parameters.minCommittableAge)
  const owners = [...balances].filter(([, { total }]) => total > 0n)
  differ.equal('status', data.status, {
    addresses: `${owners.length}`,
    unspentOutputs: `${unspent.length}`,
    accounts: `${unspent.filter(({ output }) => output.type === 1).length}`,
    baseTokenSupply: `${parameters.tokenSupply}`,
    newestMilestone: { index: committed },
  })
  owners.sort(([a, one], [b, other]) => Number(other.total - one.total) || (a < b ? 1 : -1))
  await comparePages(asking, {
    what: 'addresses by balance',
    oldest: owners.map(([key, { total }]) => `${textOf(parameters.bech32Hrp, key)} ${total}`),
    isSorted: false,
    node: 'bech32 balance { total }',
    textOf: ({ bech32, balance }) => `${bech32} ${balance.total}`,
    query: (args, selection) => `{ addresses${args} ${selection} }`,
  })
  compareSpans('MINUTE', Math.floor(slotStart(parameters, committed) / 60), data.minutes)
  compareSpans('EPOCH', epochOfSlot(parameters, committed), data.epochs)

  /** The newest span comes last. Older ones may be left out. */
  function compareSpans(span: 'MINUTE' | 'EPOCH', newest: number, points: readonly object[]): void {
    for (const [i, point] of points.entries()) {
      const bucket = newest - points.length + 1 + i
      const one = activityOf(model, span, bucket)
      differ.equal(`activity of ${span} ${bucket}`, point, {
        ...{ milestones: `${one.slots}`, blocks: `${one.blocks}`, blockBytes: `${one.blockBytes}` },
        transactionsAccepted: `${one.accepted}`,
        transactionsFailed: `${one.failed}`,
        ledgerUpdates: `${one.updates}`,
        baseTokensMoved: `${one.moved}`,
        manaBurned: `${one.burned}`,
        ...{ addresses: `${one.addresses}`, newAddresses: `${one.newAddresses}` },
      })
    }
  }
}

const activityFields = `milestones blocks blockBytes transactionsAccepted transactionsFailed
  ledgerUpdates baseTokensMoved manaBurned addresses newAddresses`
