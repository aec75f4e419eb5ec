import type { Hex } from '../../src/lib/hex.ts'
import { transactionOf } from '../../src/protocol/ids.ts'
import type { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type { FoundryId, SlotIndex, TransactionId } from '../../src/protocol/primitives.ts'
import { addressText } from '../../src/service/addresses/address-text.ts'
import type { HistoryRow } from '../../src/service/addresses/history-rows.ts'
import type { ActivityLedger, ModelTransaction } from './activity-model.ts'
import { balancesAt, type ModelOutput, ownerInSlot } from './balance-model.ts'

/** The history of an address by definition: the model scans all outputs and all transactions for every slot. */
export function historyOf(
  ledger: Pick<ActivityLedger, 'outputs' | 'committed' | 'transactions'>,
  parameters: ProtocolParameters,
  address: Hex,
): Omit<HistoryRow, 'cursor'>[] {
  const { genesisSlot, genesisUnixTimestamp, slotDurationInSeconds, minCommittableAge } = parameters
  const { bech32Hrp } = parameters
  const owner = ({ output }: ModelOutput, slot: SlotIndex) =>
    ownerInSlot(output, slot, minCommittableAge)
  const totalAt = (slot: SlotIndex) =>
    balancesAt(ledger.outputs(), slot, minCommittableAge).get(address)?.total ?? 0n

  const rows: Omit<HistoryRow, 'cursor'>[] = []
  for (let slot = genesisSlot; slot <= ledger.committed(); slot++) {
    const owned = (outputs: readonly ModelOutput[]) =>
      outputs.filter((one) => owner(one, slot) === address)
    const touching = ledger.transactions.filter(
      (one) => one.slot === slot && owned([...one.inputs, ...one.outputs]).length > 0,
    )
    const sum = (outputs: readonly ModelOutput[]) =>
      owned(outputs).reduce((amount, { output }) => amount + output.amount, 0n)
    const mana = (outputs: readonly ModelOutput[]) =>
      owned(outputs).reduce((all, { output }) => all + ('mana' in output ? output.mana : 0n), 0n)
    const tokens = (
      outputs: readonly ModelOutput[],
      sign: bigint,
      into: Map<FoundryId, bigint>,
    ) => {
      for (const { output } of owned(outputs)) {
        if (output.type !== 0 && output.type !== 3) continue
        for (const feature of output.features) {
          if (feature.type !== 5) continue
          into.set(feature.id, (into.get(feature.id) ?? 0n) + sign * feature.amount)
        }
      }
    }
    const common = {
      time: Number(genesisUnixTimestamp) + (slot - genesisSlot) * slotDurationInSeconds,
      milestoneIndex: slot,
    }
    const net = touching.reduce((all, one) => all + sum(one.outputs) - sum(one.inputs), 0n)
    let balance = slot === genesisSlot ? 0n : totalAt(slot - 1)
    const byTime = totalAt(slot) - net - balance
    balance += byTime
    if (byTime !== 0n) {
      const noCounterparty = {
        counterparties: [],
        counterpartyCount: 0,
        manaGained: 0n,
        manaLost: 0n,
      }
      const what = { transactionId: undefined, token: undefined, state: 'EXPIRED' as const }
      rows.push({ ...common, ...what, ...noCounterparty, balance, ...sides(byTime) })
    }
    for (const one of inOrder(touching, owned)) {
      const base = sum(one.outputs) - sum(one.inputs)
      balance += base
      const isPayer = owned(one.inputs).length > 0
      const others = (isPayer ? one.outputs : one.inputs).map((output) => owner(output, slot))
      const named = [...new Set(others)].filter((other) => other !== address)
      const who = {
        transactionId: one.transactionId,
        counterparties: named.slice(0, 10).map((other) => addressText(bech32Hrp, other)),
        counterpartyCount: named.length,
        state: 'FINALIZED' as const,
      }
      const manaNet = sides(mana(one.outputs) - mana(one.inputs))
      rows.push({
        ...common,
        ...who,
        token: undefined,
        balance,
        ...sides(base),
        manaGained: manaNet.gained,
        manaLost: manaNet.lost,
      })
      const moved = new Map<FoundryId, bigint>()
      tokens(one.outputs, 1n, moved)
      tokens(one.inputs, -1n, moved)
      for (const token of [...moved.keys()].sort()) {
        const amount = moved.get(token) ?? 0n
        if (amount === 0n) continue
        const none = { balance: undefined, manaGained: 0n, manaLost: 0n }
        rows.push({ ...common, ...who, token, ...none, ...sides(amount) })
      }
    }
  }
  return rows
}

function sides(net: bigint) {
  return { gained: net > 0n ? net : 0n, lost: net < 0n ? -net : 0n }
}

/** Orders transactions by id, but each after the transactions whose outputs of the address it spends. */
function inOrder(
  transactions: readonly ModelTransaction[],
  owned: (outputs: readonly ModelOutput[]) => ModelOutput[],
): ModelTransaction[] {
  const byId = new Map(transactions.map((one) => [one.transactionId, one]))
  const done = new Set<TransactionId>()
  const ordered: ModelTransaction[] = []
  function place(id: TransactionId): void {
    const one = byId.get(id)
    if (one === undefined || done.has(id)) return
    done.add(id)
    for (const { outputId } of owned(one.inputs).toSorted((a, b) =>
      a.outputId < b.outputId ? -1 : 1,
    ))
      place(transactionOf(outputId))
    ordered.push(one)
  }
  for (const id of [...byId.keys()].sort()) place(id)
  return ordered
}
