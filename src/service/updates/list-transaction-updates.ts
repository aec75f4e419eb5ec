import { slotEntries } from '../../ledger/updates.ts'
import { err, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { EntryOfSlot } from '../../store/contract/list.ts'
import { comparePositions } from '../../store/positions.ts'
import type { TransactionView } from '../blocks/read-transaction.ts'
import type { ListError, PageArguments } from '../lists/keyset-page.ts'
import type { OutputView } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import type { UpdatesNotKept } from '../slots/explorer-lists.ts'
import type { MilestoneView } from '../slots/read-milestone.ts'
import type { LedgerUpdatePage } from './list-ledger-updates.ts'
import { listUpdatesAmong, type MilestoneUpdateReads } from './list-milestone-updates.ts'

/** The updates of one transaction: one for each created or spent output and each address in it. */

export type { EntryOfSlot } from '../../store/contract/list.ts'

/** Reads that the pages of many transactions share. */
export interface TransactionUpdateReads extends MilestoneUpdateReads {
  /** The position of a row; `undefined` if it is no longer kept. */
  seqOf(entry: EntryOfSlot): Promise<number | undefined>
}

/** A transaction with its spent and created outputs, and its milestone. */
export interface MovedOutputs {
  readonly view: TransactionView
  readonly milestone: MilestoneView
  readonly inputs: readonly OutputView[]
  readonly outputs: readonly OutputView[]
}

/** Reads the positions of rows by their keys, in one statement. */
export async function readEntrySeqs(
  { store }: Pick<Services, 'store'>,
  entries: readonly EntryOfSlot[],
): Promise<readonly (number | undefined)[]> {
  return await store.read.entrySeqs(entries)
}

/** Lists a page of the updates of a transaction of a milestone, in log order or in reverse. */
export async function listUpdatesOfTransaction(
  { parameters }: Pick<Services, 'parameters'>,
  reads: TransactionUpdateReads,
  { view, milestone, inputs, outputs }: MovedOutputs,
  args: PageArguments,
): Promise<Result<LedgerUpdatePage, ListError | UpdatesNotKept | NotServedByNode>> {
  if (inputs.length < view.inputIds.length) {
    return err({
      code: 'NOT_TOLD_BY_NODE',
      what: `the inputs of transaction ${view.transactionId}`,
    })
  }
  const slot = milestone.index
  const [created, consumed] = [outputs, inputs].map((views) =>
    views.map(({ outputId, output }) => ({ outputId, output: output() })),
  ) as [Moved[], Moved[]]
  const entries = await slotEntries(parameters, slot, { created, consumed })
  const found = await Promise.all(entries.map((entry) => reads.seqOf({ ...entry, slot })))
  const seqs = found.filter((seq) => seq !== undefined).sort((a, b) => a - b)
  if (seqs.length < entries.length) return err({ code: 'UPDATES_NOT_KEPT', slot })
  const among = {
    milestone,
    count: seqs.length,
    positionsIn: ({ above, below }, { order, limit }) => {
      const within = seqs.filter(
        (seq) => comparePositions([seq], above) > 0 && comparePositions([seq], below) < 0,
      )
      return (order === 'ascending' ? within : within.reverse()).slice(0, limit)
    },
  } satisfies Parameters<typeof listUpdatesAmong>[2]
  return await listUpdatesAmong(parameters, reads, among, args)
}

type Moved = Parameters<typeof slotEntries>[2]['created'][number]
