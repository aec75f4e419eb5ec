import { featureOf } from '../../ledger/output-parts.ts'
import { ownerAt } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import { ok } from '../../lib/result.ts'
import { signedTransactionOf } from '../../protocol/block.ts'
import { NativeToken } from '../../protocol/features.ts'
import { addressKey, outputId as idOfOutput, indexOf, transactionOf } from '../../protocol/ids.ts'
import type { Output } from '../../protocol/outputs.ts'
import type { FoundryId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { slotEnd } from '../../protocol/slots.ts'
import { decodeBlock } from '../blocks/read-block.ts'
import { type OutputView, readOutputs, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { addressText } from './address-text.ts'

/** What a milestone did to an address, as rows of its history: one for each transaction and token. */

/** A row of the history. */
export interface HistoryRow {
  /** The end of the milestone, in Unix seconds. */
  readonly time: number
  readonly milestoneIndex: SlotIndex
  /** `undefined` for what time alone did, and for spendings whose transaction the upstream node did not report. */
  readonly transactionId: TransactionId | undefined
  /** `undefined` for base tokens. */
  readonly token: FoundryId | undefined
  /** What the address gained or lost, without the change; one of them is 0. */
  readonly gained: bigint
  readonly lost: bigint
  /** Base tokens after the transaction; of a row of base tokens. */
  readonly balance: bigint | undefined
  /** The same for stored mana as outputs have it; of a row of base tokens. */
  readonly manaGained: bigint
  readonly manaLost: bigint
  /** Bech32 texts: who got outputs from the address, or whose outputs were spent for it; the first few. */
  readonly counterparties: readonly string[]
  readonly counterpartyCount: number
  /** EXPIRED: an expiration passed, and outputs went to another owner without a transaction. */
  readonly state: 'FINALIZED' | 'EXPIRED'
  /** Continues after this row. */
  readonly cursor: string
}

/** An update of the class OWNED of the address. */
export interface OwnedUpdate {
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** A milestone that moved outputs of an address. */
export interface MilestoneOfAddress {
  readonly slot: SlotIndex
  /** In the order of the log; none where only time moved outputs. */
  readonly updates: readonly OwnedUpdate[]
  /** Base tokens of the address before and after it; `before` is `undefined` where it is not kept. */
  readonly before: bigint | undefined
  readonly after: bigint
}

/** The most counterparties that a row names. */
export const maxCounterparties = 10

type Deps = Pick<Services, 'store' | 'parameters'>

/** The rows of a milestone; `cursorOf` gives the cursor after so many of them, 0 after the last. */
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
  // Time comes before the ledger.
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

/** A few, for requests of others want connections too. */
const parallelReads = 4

const noMana = { manaGained: 0n, manaLost: 0n }
const noCounterparties = { counterparties: [], counterpartyCount: 0 }

function sides(net: bigint): Pick<HistoryRow, 'gained' | 'lost'> {
  return net < 0n ? { gained: 0n, lost: -net } : { gained: net, lost: 0n }
}

/** What a transaction did to the address. */
interface Group {
  readonly transactionId: TransactionId | undefined
  base: bigint
  mana: bigint
  readonly tokens: Map<FoundryId, bigint>
  /** Whether it spent outputs of the address. */
  isPayer: boolean
  /** The transactions whose outputs it spent. */
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

/** By id, but what spends an output of another one comes after it. */
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

/** Of a payer the owners of what it created, otherwise of what it spent, in the order of the transaction; each once. */
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
    ? (await store.read.outputsOfTransaction(transactionId))
        .sort((a, b) => indexOf(a.outputId) - indexOf(b.outputId))
        .map(viewOfOutput)
    : await inputsOf(deps, transactionId)
  const reached = slot + parameters.minCommittableAge
  const owners = views
    .map((view) => addressKey(ownerAt(view.output(), reached)))
    .filter((owner) => owner !== address)
  return [...new Set(owners)].map((owner) => addressText(parameters.bech32Hrp, owner))
}

/** None where the block that carried the transaction is not kept, as in upstream mode. */
async function inputsOf(deps: Deps, transactionId: TransactionId): Promise<readonly OutputView[]> {
  const row = await deps.store.read.transaction(transactionId)
  const block = row && (await deps.store.read.block(row.blockId))
  const payload = block && signedTransactionOf(decodeBlock(block.bytes))
  const inputs = payload?.transaction.inputs ?? []
  const ids = inputs.map((one) => idOfOutput(one.transactionId, one.transactionOutputIndex))
  return readOutputs(deps, ids)
}
