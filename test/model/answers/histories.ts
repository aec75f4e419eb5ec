import { inputIds } from '../../../src/ledger/resolve.ts'
import { transactionOf } from '../../../src/protocol/ids.ts'
import type { ModelTransaction } from '../../support/activity-model.ts'
import { historyOf } from '../../support/history-model.ts'
import { rest, restJson } from '../../support/rest.ts'
import { groupBy } from '../lists.ts'
import type { Model } from '../model.ts'
import { type Asking, addressesOf, some, textOf } from './ask.ts'

/** Compares the histories of addresses as files, and the changes of slots that nodes follow. */
export async function compareHistories(asking: Asking): Promise<void> {
  await compareFiles(asking)
  await compareChanges(asking)
}

async function compareFiles({ url, model, random, differ }: Asking): Promise<void> {
  const { parameters, committed } = model.ledger
  const transactions = transactionsOf(model)
  const ledger = { transactions, committed: () => committed, outputs: () => [...model.outputs] }
  for (const address of some(random, addressesOf(model), 6)) {
    const own = textOf(parameters.bech32Hrp, address)
    const path = `${url}/api/gateway/v1/addresses/${own}/history?format=ndjson`
    const lines = (await (await rest(path)).text()).trimEnd().split('\n')
    const rows = lines.filter((line) => line !== '').map((line) => JSON.parse(line))
    const all = historyOf(ledger, parameters, address)
    const kept = all.filter(
      (row) => model.kept.after === 0 || row.milestoneIndex >= model.kept.from,
    )
    const expected = kept.map((row) => ({
      time: new Date(row.time * 1_000).toISOString().replace('.000Z', 'Z'),
      milestone: row.milestoneIndex,
      transactionId: row.transactionId ?? null,
      token: row.token ?? 'base',
      ...{ in: `${row.gained}`, out: `${row.lost}` },
      balance: row.balance === undefined ? null : `${row.balance}`,
      ...{ manaIn: `${row.manaGained}`, manaOut: `${row.manaLost}` },
      ...{ counterparties: row.counterparties, counterpartyCount: row.counterpartyCount },
      state: row.state,
    }))
    const actual = rows.map(({ cursor: _, ...row }) => row)
    differ.equal(`history file of ${own}`, actual, expected)
    if (rows.length < 2) continue
    const place = random.between(0, rows.length - 2)
    const after = await rest(`${path}&cursor=${rows[place].cursor}`)
    const continued = (await after.text()).trimEnd().split('\n')
    differ.equal(`history file of ${own} after row ${place}`, continued, lines.slice(place + 1))
  }
}

/** The accepted transactions with their inputs and outputs; that of the genesis has no inputs. */
function transactionsOf({ outputs, outputById, ledger, acceptedById }: Model): ModelTransaction[] {
  const { genesisSlot } = ledger.parameters
  const inputs = new Map(
    ledger.blocks.map(({ transactionId, signed }) => {
      const ids = signed === undefined ? [] : inputIds(signed.transaction)
      return [transactionId, ids.flatMap((id) => outputById.get(id) ?? [])]
    }),
  )
  return [...groupBy(outputs, ({ outputId }) => transactionOf(outputId))].map(([id, created]) => ({
    transactionId: id,
    slot: acceptedById.get(id)?.slot ?? genesisSlot,
    inputs: inputs.get(id) ?? [],
    outputs: created,
  }))
}

async function compareChanges({ url, model, random, differ }: Asking): Promise<void> {
  const { commitments } = model.ledger
  for (const [slot, { id }] of some(random, [...commitments], 15)) {
    const path = `${url}/api/core/v3/commitments/by-slot/${slot}/utxo-changes`
    const { commitmentId, createdOutputs, consumedOutputs } = await restJson(path)
    const actual = { commitmentId, created: createdOutputs.sort(), spent: consumedOutputs.sort() }
    const inSlot = (which: 'bookedSlot' | 'spentSlot') =>
      model.outputs.filter((one) => one[which] === slot).map(({ outputId }) => outputId)
    const expected = { commitmentId: id, created: inSlot('bookedSlot'), spent: inSlot('spentSlot') }
    expected.created.sort()
    expected.spent.sort()
    differ.equal(`changes of slot ${slot}`, actual, expected)
  }
}
