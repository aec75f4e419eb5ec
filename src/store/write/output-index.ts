import type { OutputSpan } from '../../ledger/balances-of-address.ts'
import { slotsAwaited } from '../../ledger/holdings.ts'
import { expiringKeysOf, indexKeysOf } from '../../ledger/index-keys.ts'
import { conditionOf, featureOf } from '../../ledger/output-parts.ts'
import { present } from '../../lib/assert.ts'
import { NativeToken } from '../../protocol/features.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import { Expiration, StorageDepositReturn, Timelock } from '../../protocol/unlock-conditions.ts'
import type { CreatedOutput } from '../contract.ts'
import { inChunks, inSmallChunks } from '../in-chunks.ts'
import type { OutputRow } from '../rows.ts'
import * as table from '../sql/bulk-tables.ts'
import type { RawWriting } from '../sql/statements.ts'
import { networkParameters } from './network-parameters.ts'

type UnspentRow = table.RowIn<typeof table.unspentOutputs>
type IndexKeyRow = table.RowIn<typeof table.indexKeys>
type DueRow = table.RowIn<typeof table.dueOutputs>

/**
 * The index of unspent outputs. An output is added when it is booked, and removed when the slot that spends it is committed. Up to the
 * newest commitment, the index therefore has exactly the outputs that are unspent at that commitment.
 */

/** A decoded output of the ledger, with its slots of booking and spending. */
export interface DecodedOutput extends OutputSpan {
  readonly outputId: OutputId
}

/** Decodes an output from its row. */
export function decodedOutput(
  row: Pick<OutputRow, 'outputId' | 'bytes' | 'bookedSlot' | 'spentSlot'>,
): DecodedOutput {
  const { outputId, bookedSlot, spentSlot } = row
  return { outputId, output: decodeStored(Output, row.bytes), bookedSlot, spentSlot }
}

/** Writes new outputs, and adds them to the index. */
export async function insertOutputs(
  writing: RawWriting,
  created: readonly CreatedOutput[],
): Promise<void> {
  // In chunks, because a genesis may have any number of outputs.
  await inChunks(created, async (some) => {
    await insertRows(writing, some)
    await indexOutputs(writing, some)
  })
}

/** Writes outputs that were booked in earlier slots, and adds them to the index with the state that they have at slot `reached`. */
export async function insertFormerOutputs(
  writing: RawWriting,
  rows: readonly FormerOutput[],
  reached: SlotIndex,
): Promise<void> {
  const { tx, sql } = writing
  await inSmallChunks(rows, (some) => insertRows(writing, some))
  const outputs = rows.map((row) => ({ ...row, spentSlot: undefined }))
  await inSmallChunks(outputs.map(unspentRow), (some) => sql.insert(tx, table.unspentOutputs, some))
  const awaiting = outputs.filter(({ output }) => slotsAwaited(output).length > 0)
  const holders = awaiting.flatMap((decoded) => holderRows(decoded, reached))
  const keys = [...outputs.flatMap(indexKeyRows), ...holders].sort(byKey)
  await inSmallChunks(keys, (some) => sql.insert(tx, table.indexKeys, some))
  const due = awaiting.flatMap(dueRows).filter(({ slot }) => slot > reached)
  await inSmallChunks(due, (some) => sql.insert(tx, table.dueOutputs, some))
}

/** A decoded unspent output of an earlier slot. */
export interface FormerOutput extends CreatedOutput, Omit<DecodedOutput, 'spentSlot'> {}

/** Compares by the key of the index without its kind, so that each database page of the index is changed once. */
function byKey(a: IndexKeyRow, b: IndexKeyRow): number {
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

async function insertRows({ tx, sql }: RawWriting, created: readonly CreatedOutput[]) {
  // The first byte of an output is its type code.
  const rows = created.map((output) => ({ ...output, kind: present(output.bytes[0], 'a byte') }))
  await inChunks(rows, (some) => sql.insert(tx, table.outputs, some))
}

async function enterUnspent({ tx, sql }: RawWriting, outputs: readonly DecodedOutput[]) {
  await inChunks(outputs.map(unspentRow), (rows) => sql.insert(tx, table.unspentOutputs, rows))
  await inChunks(outputs.flatMap(indexKeyRows), (rows) => sql.insert(tx, table.indexKeys, rows))
}

/** Adds new outputs to the index. */
async function indexOutputs(writing: RawWriting, created: readonly CreatedOutput[]): Promise<void> {
  const { tx, sql } = writing
  const outputs = created.map(({ outputId, bytes, bookedSlot }) =>
    decodedOutput({ outputId, bytes, bookedSlot, spentSlot: undefined }),
  )
  await enterUnspent(writing, outputs)
  const awaiting = outputs.filter(({ output }) => slotsAwaited(output).length > 0)
  if (awaiting.length === 0) return
  const { minCommittableAge: age } = await networkParameters(tx)
  const holders = awaiting.flatMap((decoded) => holderRows(decoded, decoded.bookedSlot + age))
  await inChunks(holders, (rows) => sql.insert(tx, table.indexKeys, rows))
  await inChunks(awaiting.flatMap(dueRows), (rows) => sql.insert(tx, table.dueOutputs, rows))
}

/** Removes spent outputs from the index. */
export async function forgetOutputs(
  { tx, sql }: RawWriting,
  spent: readonly DecodedOutput[],
): Promise<void> {
  await inChunks(spent, async (some) => {
    await sql.remove(tx, table.unspentIds, some)
    const keys = some.flatMap((decoded) => [...indexKeyRows(decoded), ...possibleHolders(decoded)])
    await inChunks(keys, (rows) => sql.remove(tx, table.indexKeys, rows))
    await inChunks(some.flatMap(dueRows), (rows) => sql.remove(tx, table.dueOutputs, rows))
  })
}

/** Moves expired outputs to the index keys of their new holders. Each output changes its holder at slot `reached`. */
export async function transferExpired(
  { tx, sql }: RawWriting,
  outputs: readonly { readonly decoded: DecodedOutput; readonly reached: SlotIndex }[],
): Promise<void> {
  const former = outputs.flatMap(({ decoded, reached }) => holderRows(decoded, reached - 1))
  const next = outputs.flatMap(({ decoded, reached }) => holderRows(decoded, reached))
  await inChunks(former, (rows) => sql.remove(tx, table.indexKeys, rows))
  await inChunks(next, (rows) => sql.insert(tx, table.indexKeys, rows))
}

function unspentRow({ outputId, output, bookedSlot }: DecodedOutput): UnspentRow {
  return {
    outputId,
    kind: output.type,
    bookedSlot,
    timelockSlot: conditionOf(output, Timelock)?.slot,
    expirationSlot: conditionOf(output, Expiration)?.slot,
    hasReturn: conditionOf(output, StorageDepositReturn) !== undefined,
    hasToken: featureOf(output, NativeToken) !== undefined,
  }
}

function indexKeyRows({ outputId, output, bookedSlot }: DecodedOutput): IndexKeyRow[] {
  return indexKeysOf(outputId, output).map(({ kind, value }) => ({
    kind,
    value,
    bookedSlot,
    outputId,
  }))
}

function holderRows(
  { outputId, output, bookedSlot }: DecodedOutput,
  reached: SlotIndex,
): IndexKeyRow[] {
  return expiringKeysOf(output, reached).map((key) => ({ ...key, bookedSlot, outputId }))
}

/** Returns the index keys of an expiring output for its holders before and after its expiration. */
function possibleHolders(decoded: DecodedOutput): IndexKeyRow[] {
  const expiration = conditionOf(decoded.output, Expiration)
  if (expiration === undefined) return []
  return [...holderRows(decoded, 0), ...holderRows(decoded, expiration.slot)]
}

function dueRows({ outputId, output }: DecodedOutput): DueRow[] {
  return slotsAwaited(output).map((slot) => ({ slot, outputId }))
}
