import { epochOfSlot, slotStart } from '../../../src/protocol/slots.ts'
import { balancesAt, unspentAt } from '../../support/balance-model.ts'
import { graphql } from '../../support/client.ts'
import { activityOf } from '../activity.ts'
import { type Asking, askEach, textOf } from './ask.ts'
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

/** Compares the entries of the accounts ledger, and the committees of the last epochs. */
export async function compareAccounts({ url, model, differ }: Asking): Promise<void> {
  const { parameters, committed } = model.ledger
  const entries = [...model.slots.accounts()]
  const answers = await askEach(
    url,
    entries,
    ([id]) => `account(id: "${id}") { entry { credits delegationStake expirySlot fixedCost keyHashes
      stakeEndEpoch supportedHash supportedVersion updatedSlot validatorStake } }`,
  )
  for (const [i, [id, { accountId: _, outputId, ...entry }]] of entries.entries()) {
    const { delegationStake: delegated } = entry
    differ.equal(`account ${id}`, answers[i]?.entry, {
      ...entry,
      delegationStake: delegated > 0n ? delegated : 0n,
    })
  }
  const newest = epochOfSlot(parameters, committed)
  const epochs = [newest - 2, newest - 1, newest].filter((epoch) => epoch >= 0)
  const committees = await askEach(
    url,
    epochs,
    (epoch) => `epoch(index: ${epoch}) { committee { members {
      accountId poolStake validatorStake fixedCost } } }`,
  )
  for (const [i, epoch] of epochs.entries()) {
    const members: readonly { readonly accountId: string }[] = committees[i].committee.members
    const actual = members.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1))
    differ.equal(`committee of epoch ${epoch}`, actual, model.slots.committeeOf(epoch))
  }
}
