import { assert } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Store } from '../../store/contract.ts'
import type { LeaseLost } from '../../store/lease-contract.ts'
import type { AccountAt, SnapshotOutput } from '../../store/ledger-snapshot-contract.ts'
import type { PrunedTip } from '../../store/rows.ts'
import { type Lease, leaseRenewalMs } from '../lease.ts'
import type { CheckedPart, LineReader } from './check-snapshot.ts'
import type { SnapshotOutputUnproved } from './snapshot-errors.ts'
import { positionText } from './snapshot-format.ts'

/** Writes the rows of a snapshot, those of many lines in one transaction with the place where the last of them ends. */

/** What writing needs. */
export interface WriteRowsDeps {
  readonly store: Pick<Store, 'write'>
  readonly lease: Lease
  /** Has taken the lines that are added, and no others. */
  readonly reader: LineReader
}

/** Takes the parts of lines. */
export interface RowsWriter {
  /** Adds a part, which is written when it is proved; the lines that follow may be taken meanwhile. */
  add(
    part: Exclude<CheckedPart, { readonly section: 'end' }>,
    unproved: Promise<OutputId | undefined>,
  ): Promise<Result<unknown, WriteError>>
  /** Writes what was added last, and waits for all. */
  end(): Promise<Result<unknown, WriteError>>
}

/** Why rows are not written. */
export type WriteError = LeaseLost | SnapshotOutputUnproved

/** Writes parts in their order, one transaction at a time. */
export function createRowsWriter({ store, lease, reader }: WriteRowsDeps): RowsWriter {
  const keep = createKeeper(lease)
  let rows = noRows()
  let count = 0
  let proving: Promise<OutputId | undefined>[] = []
  let writing: Promise<Result<unknown, LeaseLost>> = Promise.resolve(ok(undefined))

  async function add(...[part, unproved]: Parameters<RowsWriter['add']>) {
    // A failure is thrown where it is waited for.
    unproved.catch(() => {})
    proving.push(unproved)
    if (part.section === 'outputs') rows.outputs.push(...part.rows)
    if (part.section === 'accounts') rows.accounts.push(...part.rows)
    if (part.section === 'tips') rows.tips.push(...part.rows)
    // The head by itself, so that a transfer that is cut off soon goes on with the same snapshot.
    count += part.section === 'head' ? rowsPerWrite : part.rows.length
    return count < rowsPerWrite ? ok(undefined) : write()
  }

  async function write(): Promise<Result<unknown, WriteError>> {
    const [checked, position] = [reader.head(), reader.position()]
    assert(checked !== undefined && position !== undefined, 'a part has a position')
    const { head, network } = checked
    const progress = { head: JSON.stringify(head), position: positionText(position) }
    const part = { progress, slot: head.slot, parameters: network.parameters, ...rows }
    const proofs = proving
    rows = noRows()
    count = 0
    proving = []
    // Before they are written: a transfer that is cut off goes on behind them.
    for (const outputId of await Promise.all(proofs)) {
      if (outputId !== undefined) return err({ code: 'SNAPSHOT_OUTPUT_UNPROVED', outputId })
    }
    const former = await writing
    if (!former.ok) return former
    const kept = await keep()
    if (!kept.ok) return kept
    writing = store.write.addToSnapshot(lease.term, part)
    writing.catch(() => {})
    return former
  }

  async function end(): Promise<Result<unknown, WriteError>> {
    const begun = count === 0 ? ok(undefined) : await write()
    return begun.ok ? writing : begun
  }

  return { add, end }
}

/** Renews the lease now and then; what is written without it is refused. */
function createKeeper(lease: Lease): () => Promise<Result<unknown, LeaseLost>> {
  let renewed = performance.now()
  return async () => {
    if (performance.now() - renewed < leaseRenewalMs) return ok(undefined)
    renewed = performance.now()
    return lease.renew()
  }
}

function noRows() {
  const outputs: SnapshotOutput[] = []
  const accounts: AccountAt[] = []
  const tips: PrunedTip[] = []
  return { outputs, accounts, tips }
}

/** Rows of one transaction: they come in another order than that of most indexes, of which each writes its pages once. */
const rowsPerWrite = 8_000
