import { execute } from '../../src/ledger/execute.ts'
import { inputIds, resolveReferences } from '../../src/ledger/resolve.ts'
import { failureReasonOf, type TransactionError } from '../../src/ledger/transaction-error.ts'
import { present } from '../../src/lib/assert.ts'
import { ok } from '../../src/lib/result.ts'
import {
  type PreparedTransaction,
  prepareTransaction,
} from '../../src/node/prepared-transaction.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import { outputId, slotOfId } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import type {
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import type { Transaction } from '../../src/protocol/transaction.ts'
import type { Differences } from './differences.ts'
import type { Booked, Slots } from './slots.ts'
import { type BookedOutput, decoded, type StoredBlock, type StoredLedger } from './stored-ledger.ts'
import type { TableRow, Tables } from './tables.ts'

/** Books the stored blocks again, one after another in the order of their arrival, and compares every verdict (ledger reference 3 and 4). */

/** The result of a transaction. */
export interface Verdict {
  readonly state: 'ACCEPTED' | 'FAILED'
  readonly slot: SlotIndex
  readonly reason?: number
}

/** The outputs of the genesis. */
export async function genesisOutputs(
  tables: Tables,
  genesisSlot: SlotIndex,
): Promise<BookedOutput[]> {
  const rows = await tables.rows('outputs')
  return rows
    .filter((row) => row.number('bookedSlot') === genesisSlot)
    .map((row) => ({
      outputId: row.hex<OutputId>('id'),
      output: decoded(Output, row.bytes('bytes')),
      bookedSlot: genesisSlot,
      blockId: row.hex<BlockId>('blockId'),
    }))
}

/** Books all blocks, and compares transactions and outputs. Returns the verdicts. */
export async function replayBookings(
  ledger: StoredLedger,
  booked: Booked,
  slots: Slots,
  { tables, differ }: { readonly tables: Tables; readonly differ: Differences },
): Promise<ReadonlyMap<TransactionId, Verdict>> {
  const { parameters, blocks, committed } = ledger
  const rowById = new Map<TransactionId, TableRow>()
  for (const row of await tables.rows('transactions')) rowById.set(row.hex('id'), row)
  const known = new Set([...ledger.commitments.values()].map(({ id }) => id))
  const lastArrival = new Map(blocks.map(({ slot, arrival }) => [slot, arrival]))
  const verdicts = new Map<TransactionId, Verdict>()
  let waiting: Carrier[] = []
  const signatures = openSignatureChecker({ queueLimit: 100_000 })
  for (const block of blocks) {
    if (block.state === 'PENDING' || block.signed === undefined) continue
    const prepared = await prepareTransaction(signatures, block.signed)
    if (!prepared.ok) throw new Error(prepared.error.code)
    const carrier = { block, prepared: prepared.value }
    if (!judge(carrier)) waiting.push(carrier)
    bookWaiting(block)
  }
  await signatures.close()
  slots.advanceTo(committed)
  compareTransactions()
  await compareOutputs()
  await compareWaiting()
  return verdicts

  /** Books the transactions whose last missing input was just created. */
  function bookWaiting({ arrival }: StoredBlock): void {
    for (;;) {
      const next = waiting
        .filter(({ prepared }) => inputIdsOf(prepared).every((id) => booked.outputById.has(id)))
        .sort((a, b) => a.block.arrival - b.block.arrival)[0]
      if (next === undefined) return
      waiting = waiting.filter((one) => one !== next)
      const { transactionId, slot } = next.block
      const row = transactionId && rowById.get(transactionId)
      const isOrphaned = row?.text('state') === 'FAILED' && row.number('failureReason') === orphaned
      // A block whose slot was closed meanwhile carries nothing any more. The tables do not say when a slot was closed.
      if (isOrphaned && arrival > (lastArrival.get(slot) ?? 0)) continue
      if (!judge(next)) waiting.push(next)
    }
  }

  /** Returns whether there is a verdict; false if an input is missing. */
  function judge({ block, prepared }: Carrier): boolean {
    const { transactionId } = prepared.identity
    const { transaction, unlocks } = prepared.payload
    const former = verdicts.get(transactionId)
    if (former !== undefined && !isOfBlock(former.reason)) return true
    const context = transaction.contextInputs.find((input) => 'commitmentId' in input)
    if (context !== undefined) slots.advanceTo(slotOfId(context.commitmentId))
    const resolved = resolveReferences(transaction, {
      outputById: knownOutputs(transaction),
      isCommitmentKnown: (id: CommitmentId) => known.has(id),
      creditsAt: (id, slot) => slots.entryAt(id, slot)?.credits,
      rewardAt: (claim, slot) => ok(slots.claimAt(claim, slot)),
    })
    const request = { parameters, transaction, transactionId, unlocks }
    const { isSignatureValid } = prepared
    const result = resolved.ok
      ? execute({ ...request, ...resolved.value, isSignatureValid })
      : resolved
    if (result.ok) accept(block, prepared)
    else if (result.error.code === 'ORPHANED') return false
    else verdicts.set(transactionId, failed(block, result.error))
    return true
  }

  function knownOutputs({ inputs }: Transaction) {
    const ids = inputs.map((one) => outputId(one.transactionId, one.transactionOutputIndex))
    const outputs = ids.flatMap((id) => booked.outputById.get(id) ?? [])
    return new Map(
      outputs.map(({ outputId: id, output, spentBy }) => {
        return [id, { output, spentIn: spentBy && ('ACCEPTED' as const) }] as const
      }),
    )
  }

  function accept({ blockId, slot: own }: StoredBlock, prepared: PreparedTransaction): void {
    const { transactionId } = prepared.identity
    const { allotments, outputs } = prepared.payload.transaction
    const spent = inputIdsOf(prepared).map((id) =>
      present(booked.outputById.get(id), 'a spent output'),
    )
    // A transaction is booked no earlier than its inputs.
    const slot = Math.max(own, ...spent.map(({ bookedSlot }) => bookedSlot))
    for (const one of spent) Object.assign(one, { spentSlot: slot, spentBy: transactionId })
    for (const [index, output] of outputs.entries()) {
      const id = outputId(transactionId, index)
      booked.outputById.set(id, { outputId: id, output, bookedSlot: slot, blockId })
    }
    booked.acceptedById.set(transactionId, { slot, allotments })
    verdicts.set(transactionId, { state: 'ACCEPTED', slot })
  }

  function compareTransactions(): void {
    for (const [id, row] of rowById) {
      const isFinal = row.text('state') === 'FINALIZED'
      const state = isFinal ? 'ACCEPTED' : row.text('state')
      const reason = row.isNull('failureReason') ? undefined : row.number('failureReason')
      const verdict = verdicts.get(id)
      const isWithout = state === 'PENDING' || (state === 'FAILED' && reason === orphaned)
      if (verdict === undefined && isWithout) continue
      const slot = row.number('slot')
      const actual = { state, reason: classOf(reason), ...(state === 'ACCEPTED' && { slot }) }
      const expected = verdict && {
        ...{ state: verdict.state, reason: classOf(verdict.reason) },
        ...(verdict.state === 'ACCEPTED' && { slot: verdict.slot }),
      }
      differ.equal(`verdict of transaction ${id}`, actual, expected)
      if (state === 'ACCEPTED') {
        differ.equal(`finality of transaction ${id}`, isFinal, slot <= committed)
      }
    }
    for (const { transactionId: id } of blocks) {
      if (id !== undefined) differ.equal(`row of transaction ${id}`, rowById.has(id), true)
    }
  }

  async function compareOutputs(): Promise<void> {
    const actual = new Map<string, unknown>()
    for (const row of await tables.rows('outputs')) {
      actual.set(row.hex('id'), {
        output: row.hex('bytes'),
        kind: row.number('kind'),
        bookedSlot: row.number('bookedSlot'),
        blockId: row.hex('blockId'),
        spentSlot: row.isNull('spentSlot') ? undefined : row.number('spentSlot'),
        spentBy: row.isNull('spentBy') ? undefined : row.hex('spentBy'),
      })
    }
    const expected = new Map<string, unknown>()
    for (const { outputId: id, output, ...rest } of booked.outputById.values()) {
      const bytes = `0x${Buffer.from(encode(Output, output)).toString('hex')}`
      expected.set(id, { ...rest, output: bytes, kind: output.type })
    }
    differ.equalMaps('output', actual, expected)
  }

  async function compareWaiting(): Promise<void> {
    const rows = await tables.rows('waiting_carriers', 'inbox')
    const open = waiting.filter(({ block: { slot, transactionId } }) => {
      const row = transactionId && rowById.get(transactionId)
      return slot > committed && row?.text('state') === 'PENDING'
    })
    differ.equal(
      'waiting blocks',
      rows.map((row) => row.number('inbox')),
      open.map(({ block }) => block.arrival).toSorted((a, b) => a - b),
    )
  }
}

interface Carrier {
  readonly block: StoredBlock
  readonly prepared: PreparedTransaction
}

function inputIdsOf({ payload }: PreparedTransaction): OutputId[] {
  return inputIds(payload.transaction)
}

function failed({ slot }: StoredBlock, error: TransactionError): Verdict {
  return { state: 'FAILED', slot, reason: failureReasonOf(error) }
}

const orphaned = 2

/** Whether a failure is that of the block that carried the transaction, so that another block may carry it and succeed. */
export function isOfBlock(reason: number | undefined): boolean {
  return reason !== undefined && [orphaned, 5, 6, 7, 8, 24, 25].includes(reason)
}

/** Failures of blocks count as one: which of them is recorded depends on which carrier was judged last. So do the two failures of a
 * spent input: which of them it is depends on when the spending slot was committed. */
function classOf(reason: number | undefined): number | string | undefined {
  if (isOfBlock(reason)) return 'of the block'
  return reason === 1 || reason === 3 ? 'spent before' : reason
}
