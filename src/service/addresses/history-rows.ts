import { featureOf } from '../../ledger/output-parts.ts'
import { ownerAt } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { ok } from '../../lib/result.ts'
import { Block, signedTransactionOf } from '../../protocol/block.ts'
import { NativeToken } from '../../protocol/features.ts'
import { addressKey, byIndex, outputId as idOfOutput, transactionOf } from '../../protocol/ids.ts'
import type { Output } from '../../protocol/outputs.ts'
import type { FoundryId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { slotEnd } from '../../protocol/slots.ts'
import { decodeStored } from '../../protocol/stored.ts'
import { type OutputView, readOutputs, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { addressText } from './address-text.ts'

/** The rows of an address history for one milestone: one row for each transaction and token. */

export interface HistoryRow {
  /** The end of the milestone, in Unix seconds. */
  readonly time: number
  readonly milestoneIndex: SlotIndex
  /** `undefined` for expirations, and for spendings whose transaction the upstream node did not report. */
  readonly transactionId: TransactionId | undefined
  /** `undefined` for base tokens. */
  readonly token: FoundryId | undefined
  /** Net amount that the address gained or lost, without change outputs; one of the two is 0. */
  readonly gained: bigint
  readonly lost: bigint
  /** Base tokens after the transaction; only in rows of base tokens. */
  readonly balance: bigint | undefined
  /** Net stored mana as written in the outputs; only in rows of base tokens. */
  readonly manaGained: bigint
  readonly manaLost: bigint
  /** Bech32 addresses of the first recipients if the address paid, otherwise of the first payers. */
  readonly counterparties: readonly string[]
  readonly counterpartyCount: number
  /** EXPIRED: outputs passed to another owner by expiration, without a transaction. */
  readonly state: 'FINALIZED' | 'EXPIRED'
  /** Cursor from which the history continues after this row. */
  readonly cursor: string
}

/** An update of class OWNED of the address. */
export interface OwnedUpdate {
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** A milestone in which outputs of an address moved. */
export interface MilestoneOfAddress {
  readonly slot: SlotIndex
  /** Updates in log order; empty if outputs moved only by expiration. */
  readonly updates: readonly OwnedUpdate[]
  /** Base tokens of the address before and after the milestone; `before` is `undefined` if it is no longer kept. */
  readonly before: bigint | undefined
  readonly after: bigint
}

/** Maximum number of counterparties that a row lists. */
const maxCounterparties = 10

type Deps = Pick<Services, 'store' | 'parameters'>

/** Computes the rows of a milestone. `cursorOf` returns the cursor after a number of rows; it gets 0 for the last row. */
export async function rowsOfMilestone(
  deps: Deps,
  address: Hex,
  { slot, updates, before, after }: MilestoneOfAddress,
  cursorOf: (rowsDone: number) => string,
): Promise<HistoryRow[]> {
  const outputs = await readOutputs(deps, [...new Set(updates.map(({ outputId }) => outputId))])
  const outputById = new Map(outputs.map((view) => [view.outputId, view]))
  const groups = inOrder(groupsOf(updates, outputById))
  const found = await inParallel(groups, parallelReads, async (group) =>
    ok(await counterpartiesOf(deps, { address, slot, group })),
  )
  const time = slotEnd(deps.parameters, slot)
  const nets = groups.map(({ base }) => base)
  const net = nets.reduce((sum, one) => sum + one, 0n)
  let balance = after - net
  const rows: Omit<HistoryRow, 'cursor'>[] = []
  const common = { time, milestoneIndex: slot, ...noMana, ...noCounterparties }
  // Expirations precede the transactions of their milestone.
  if (before !== undefined && balance !== before) {
    const state = 'EXPIRED' as const
    const expired = { transactionId: undefined, token: undefined, balance, state }
    rows.push({ ...common, ...expired, ...sides(balance - before) })
  }
  for (const [i, { transactionId, base, mana, tokens }] of groups.entries()) {
    balance += base
    const others = (found.ok ? found.value[i] : undefined) ?? []
    const named = {
      counterparties: others.slice(0, maxCounterparties),
      counterpartyCount: others.length,
    }
    const ofAll = { ...common, ...named, transactionId, state: 'FINALIZED' as const }
    const { gained: manaGained, lost: manaLost } = sides(mana)
    rows.push({ ...ofAll, token: undefined, balance, ...sides(base), manaGained, manaLost })
    for (const [token, amount] of [...tokens].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (amount !== 0n) rows.push({ ...ofAll, token, balance: undefined, ...sides(amount) })
    }
  }
  return rows.map((row, i) => ({ ...row, cursor: cursorOf((i + 1) % rows.length) }))
}

/** Number of parallel reads; small, because other requests need database connections too. */
const parallelReads = 4

const noMana = { manaGained: 0n, manaLost: 0n }
const noCounterparties = { counterparties: [], counterpartyCount: 0 }

function sides(net: bigint): Pick<HistoryRow, 'gained' | 'lost'> {
  return net < 0n ? { gained: 0n, lost: -net } : { gained: net, lost: 0n }
}

/** The effect of one transaction on the address. */
interface Group {
  readonly transactionId: TransactionId | undefined
  base: bigint
  mana: bigint
  readonly tokens: Map<FoundryId, bigint>
  /** Whether the transaction spent outputs of the address. */
  isPayer: boolean
  /** The transactions whose outputs the transaction spent. */
  readonly after: Set<TransactionId>
}

function groupsOf(
  updates: readonly OwnedUpdate[],
  outputById: ReadonlyMap<OutputId, OutputView>,
): Map<TransactionId | undefined, Group> {
  const groups = new Map<TransactionId | undefined, Group>()
  for (const { outputId, isSpent } of updates) {
    const view = outputById.get(outputId)
    if (view === undefined) continue
    const id = isSpent ? view.spentBy : transactionOf(outputId)
    const group = groups.get(id) ?? newGroup(id)
    groups.set(id, group)
    add(group, view.output(), isSpent ? -1n : 1n)
    if (!isSpent) continue
    group.isPayer = true
    group.after.add(transactionOf(outputId))
  }
  return groups
}

function newGroup(transactionId: TransactionId | undefined): Group {
  return { transactionId, base: 0n, mana: 0n, tokens: new Map(), isPayer: false, after: new Set() }
}

function add(group: Group, output: Output, sign: 1n | -1n): void {
  group.base += sign * output.amount
  group.mana += sign * ('mana' in output ? output.mana : 0n)
  const token = featureOf(output, NativeToken)
  if (token === undefined) return
  group.tokens.set(token.id, (group.tokens.get(token.id) ?? 0n) + sign * token.amount)
}

/** Sorts groups by transaction id, except that a transaction follows the transactions whose outputs it spends. */
function inOrder(groups: ReadonlyMap<TransactionId | undefined, Group>): Group[] {
  const ids = [...groups.keys()].sort((a = '0x' as TransactionId, b = '0x' as TransactionId) =>
    a < b ? -1 : Number(a > b),
  )
  const ordered = new Set<Group>()
  for (const id of ids) {
    const open = [id]
    const entered = new Set<TransactionId | undefined>()
    while (open.length > 0) {
      const next = open.at(-1)
      const group = groups.get(next)
      const waitsFor = entered.has(next) ? [] : [...(group?.after ?? [])]
      const missing = waitsFor.filter((one) => {
        const former = groups.get(one)
        return former !== undefined && !ordered.has(former) && one !== next
      })
      entered.add(next)
      if (missing.length > 0) {
        open.push(...missing.sort().reverse())
        continue
      }
      open.pop()
      if (group !== undefined) ordered.add(group)
    }
  }
  return [...ordered]
}

/**
 * The counterparties of the address in a transaction, without duplicates: the owners of the created outputs if the address
 * paid, otherwise the owners of the spent outputs, in the order of the transaction.
 */
async function counterpartiesOf(
  deps: Deps,
  {
    address,
    slot,
    group,
  }: { readonly address: Hex; readonly slot: SlotIndex; readonly group: Group },
): Promise<string[]> {
  const { transactionId } = group
  if (transactionId === undefined) return []
  const { store, parameters } = deps
  const views = group.isPayer
    ? (await store.read.outputsOfTransaction(transactionId)).sort(byIndex).map(viewOfOutput)
    : await inputsOf(deps, transactionId)
  const reached = slot + parameters.minCommittableAge
  const owners = views
    .map((view) => addressKey(ownerAt(view.output(), reached)))
    .filter((owner) => owner !== address)
  return [...new Set(owners)].map((owner) => addressText(parameters.bech32Hrp, owner))
}

/** Reads the inputs of a transaction; empty if its block is not kept, as in upstream mode. */
async function inputsOf(deps: Deps, transactionId: TransactionId): Promise<readonly OutputView[]> {
  const row = await deps.store.read.transaction(transactionId)
  const block = row && (await deps.store.read.block(row.blockId))
  const payload = block && signedTransactionOf(decodeStored(Block, block.bytes))
  const inputs = payload?.transaction.inputs ?? []
  const ids = inputs.map((one) => idOfOutput(one.transactionId, one.transactionOutputIndex))
  return readOutputs(deps, ids)
}
