import { decay } from '../../../src/ledger/mana.ts'
import { present } from '../../../src/lib/assert.ts'
import { developmentKeys } from '../../../src/node/embedded/development.ts'
import { identifyTransaction, indexOf, outputId, transactionOf } from '../../../src/protocol/ids.ts'
import { type Keypair, keypairOf } from '../../../src/protocol/keys.ts'
import type { BasicOutput } from '../../../src/protocol/outputs.ts'
import type { OutputId, TransactionId } from '../../../src/protocol/primitives.ts'
import { epochOfSlot } from '../../../src/protocol/slots.ts'
import type { Allotment, Transaction } from '../../../src/protocol/transaction.ts'
import type { ModelOutput } from '../../support/balance-model.ts'
import { graphql } from '../../support/client.ts'
import type { Moment } from '../../support/ledger-world.ts'
import { plain } from '../../support/player-coins.ts'
import { until } from '../../support/until.ts'
import { type HistoryWorld, historyParameters } from './world.ts'

/** The owner of most of the genesis, who pays everybody else and allots mana. */
export interface Bank {
  /** Creates outputs and allots mana in one transaction. Returns the outputs; `undefined` if the transaction failed. */
  pay(
    moment: Moment,
    outputs: readonly BasicOutput[],
    allotments?: readonly Allotment[],
  ): Promise<ModelOutput[] | undefined>
}

/** Takes the genesis output of the faucet, and leaves it a part with the first payment. */
export async function openBank(world: HistoryWorld): Promise<Bank> {
  const { faucet } = developmentKeys()
  const own = keypairOf(new Uint8Array(32).fill(77))
  const ownedBy = ({ publicKeyHash: pubKeyHash }: Keypair) => ({ type: 0, pubKeyHash }) as const
  const query = `{ unspentOutputs(filter: { kinds: [BASIC] }, first: 1) {
    nodes { outputId amount mana creationSlot } } }`
  const { data } = await graphql(world.url, query)
  const [genesis] = data.unspentOutputs.nodes
  let purse = {
    outputId: genesis.outputId as OutputId,
    amount: BigInt(genesis.amount),
    mana: BigInt(genesis.mana),
    slot: Number(genesis.creationSlot),
    key: faucet,
  }

  async function pay(
    moment: Moment,
    payments: readonly BasicOutput[],
    allotments: readonly Allotment[] = [],
  ): Promise<ModelOutput[] | undefined> {
    const isFirst = purse.key === faucet
    const outputs = isFirst ? [...payments, plain(ownedBy(faucet), 1_000_000_000_000n)] : payments
    const epochs =
      epochOfSlot(historyParameters, moment.slot) - epochOfSlot(historyParameters, purse.slot)
    const held = decay(historyParameters, purse.mana, epochs)
    const given = [...outputs, ...allotments].reduce((sum, { mana }) => sum + mana, 0n)
    const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n)
    const rest = { ...plain(ownedBy(own), purse.amount - paid), mana: held - given }
    const transaction: Transaction = {
      ...{ networkId: moment.offer.network.id, creationSlot: moment.slot, contextInputs: [] },
      inputs: [inputOf(purse.outputId)],
      allotments: allotments.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1)),
      // It may burn mana: what was generated since.
      ...{ capabilities: '0x02', payload: undefined, outputs: [rest, ...outputs] },
    }
    const { signingHash, transactionId } = identifyTransaction(transaction)
    const unlocks = [{ type: 0, signature: purse.key.sign(signingHash) } as const]
    const { isAccepted, slot } = await world.send(moment, {
      payload: { type: 1, transaction, unlocks },
    })
    if (!isAccepted || (await failureOf(world, transactionId)) !== undefined) return undefined
    const [first, ...others] = [rest, ...outputs].map((output, i) => ({
      ...{ outputId: outputId(transactionId, i), output, bookedSlot: slot },
    }))
    const { outputId: id } = present(first, 'the rest')
    purse = { outputId: id, amount: rest.amount, mana: rest.mana, slot: moment.slot, key: own }
    return others.slice(0, payments.length)
  }

  return { pay }
}

/** The input that spends an output. */
export function inputOf(id: OutputId): Transaction['inputs'][number] {
  return { type: 0, transactionId: transactionOf(id), transactionOutputIndex: indexOf(id) }
}

/** Waits for the verdict of a transaction. Returns the name of its failure; `undefined` if it was accepted. */
export async function failureOf(
  world: HistoryWorld,
  transactionId: TransactionId,
): Promise<string | undefined> {
  const query = `{ transaction(id: "${transactionId}") { state failure { name } } }`
  const verdict = await until(
    async () => {
      const { data } = await graphql(world.url, query)
      return data?.transaction?.state === 'PENDING' ? undefined : (data?.transaction ?? undefined)
    },
    { what: `the verdict of ${transactionId}`, deadlineMs: 60_000 },
  )
  return verdict.failure?.name
}
