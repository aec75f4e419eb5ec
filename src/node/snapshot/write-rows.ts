import { assert } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import type { AccountAt, SnapshotOutput } from '../../store/contract/ledger-snapshot.ts'
import type { Store } from '../../store/contract.ts'
import type { PrunedTip } from '../../store/rows.ts'
import { type Lease, leaseRenewalMs } from '../lease.ts'
import type { CheckedPart, LineReader } from './check-snapshot.ts'
import type { SnapshotOutputUnproved } from './snapshot-errors.ts'
import { positionText } from './snapshot-format.ts'

/** Writes the rows of a snapshot. A transaction has the rows of many lines and the position after the last line. */

export interface WriteRowsDeps {
  readonly store: Pick<Store, 'write'>
  readonly lease: Lease
  /** The reader of the lines that are added, and of no other lines. */
  readonly reader: LineReader
}

/** Writes the parts of lines. */
export interface RowsWriter {
  /** Adds a part, which is written after it is proved. The next lines may be added meanwhile. */
  add(
    part: Exclude<CheckedPart, { readonly section: 'end' }>,
    unproved: Promise<OutputId | undefined>,
  ): Promise<Result<unknown, WriteError>>
  /** Writes the remaining rows, and waits for all writes. */
  end(): Promise<Result<unknown, WriteError>>
}

/** Why rows could not be written. */
export type WriteError = LeaseLost | SnapshotOutputUnproved

/** Creates a writer that writes parts in order, one transaction at a time. */
export function createRowsWriter({ store, lease, reader }: WriteRowsDeps): RowsWriter {
  const renewWhenDue = createRenewal(lease)
  let rows = noRows()
  let count = 0
  let proving: Promise<OutputId | undefined>[] = []
  let writing: Promise<Result<unknown, LeaseLost>> = Promise.resolve(ok(undefined))

  async function add(...[part, unproved]: Parameters<RowsWriter['add']>) {
    // `write` reports the rejection. This handler prevents an unhandled rejection until then.
    unproved.catch(() => {})
    proving.push(unproved)
    if (part.section === 'outputs') rows.outputs.push(...part.rows)
    if (part.section === 'accounts') rows.accounts.push(...part.rows)
    if (part.section === 'tips') rows.tips.push(...part.rows)
    // The head is written alone, so that a transfer that is cut off early resumes with the same snapshot.
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
    // Proofs are awaited before the rows are written, because a transfer that is cut off resumes after the written rows.
    for (const outputId of await Promise.all(proofs)) {
      if (outputId !== undefined) return err({ code: 'SNAPSHOT_OUTPUT_UNPROVED', outputId })
    }
    const former = await writing
    if (!former.ok) return former
    const renewed = await renewWhenDue()
    if (!renewed.ok) return renewed
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

/** Renews the lease when a renewal is due. Writes without the lease are refused. */
function createRenewal(lease: Lease): () => Promise<Result<unknown, LeaseLost>> {
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

/** Rows per transaction. Their order differs from the order of most indexes, and each index writes a page once per transaction. */
const rowsPerWrite = 8_000
