import { updateClasses } from '../../ledger/updates.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { BlockRow, BlockState } from '../../store/rows.ts'
import { type BlockView, viewOfBlock } from '../blocks/read-block.ts'
import type { Services } from '../services.ts'

/** Events of the ledger, found by polling: committed slots, blocks, changes of their states, outputs. */

export type LedgerEvent =
  /** A slot was committed. */
  | { readonly kind: 'slot'; readonly slot: SlotIndex }
  /** A block was accepted into the inbox. */
  | { readonly kind: 'block'; readonly block: BlockView }
  /** The state of a block changed. */
  | { readonly kind: 'state'; readonly block: BlockView }
  /** An output was created or spent in a committed slot. */
  | { readonly kind: 'output'; readonly outputId: OutputId }

/** The kinds of events to read. */
export interface Interests {
  readonly slots: boolean
  readonly blocks: boolean
  readonly outputs: boolean
}

/** Blocks that may have arrived before the first call, and whose later states are reported nevertheless. */
export interface EarlyBlocks {
  readonly blockIds: readonly BlockId[]
  /** Transactions whose carriers are meant. */
  readonly transactionIds: readonly TransactionId[]
}

export interface LedgerEventReader {
  /** Returns the events since the last call, except for kinds that were not requested in that call. */
  next(interests: Interests, early?: EarlyBlocks): Promise<readonly LedgerEvent[]>
  /** Makes the next call begin at the present end of the ledger, because the log was replaced. Observed blocks remain observed. */
  restart(): void
}

/** Maximum number of slots of one call. After a longer pause, only the newest slots are reported. */
const maxSlots = 100

const pageSize = 1_000

/** Maximum number of carriers of one transaction among the early blocks. */
const maxCarriers = 16

export function createLedgerEventReader({
  store: { read },
}: Pick<Services, 'store'>): LedgerEventReader {
  let slot: SlotIndex | undefined
  let inbox: number | undefined
  let seq: number | undefined
  /** Blocks whose state may still change. */
  const open = new Map<BlockId, BlockRow>()

  async function next(
    interests: Interests,
    early: EarlyBlocks = { blockIds: [], transactionIds: [] },
  ): Promise<readonly LedgerEvent[]> {
    const tip = interests.slots || interests.outputs ? await read.logTip() : undefined
    const slots = interests.slots && tip !== undefined ? tip.slot : undefined
    const blocks = interests.blocks
      ? await blocksAfter(read, inbox ?? (await read.newestInbox()), { open, early })
      : undefined
    const outputs =
      interests.outputs && tip !== undefined
        ? await outputsBetween(read, seq ?? tip.seq, tip.seq)
        : undefined
    // Nothing can fail from here on: a call that fails changes no state, so the next call covers the same range.
    return [...slotEvents(slots), ...blockEvents(blocks), ...outputEvents(outputs)]
  }

  function slotEvents(newest: SlotIndex | undefined): LedgerEvent[] {
    const known = slot ?? newest
    slot = newest
    if (known === undefined || newest === undefined) return []
    const first = Math.max(known + 1, newest - maxSlots + 1)
    const count = Math.max(0, newest - first + 1)
    return Array.from({ length: count }, (_, i) => ({ kind: 'slot', slot: first + i }))
  }

  function blockEvents(now: BlocksNow | undefined): LedgerEvent[] {
    inbox = now?.inbox
    if (now === undefined) {
      open.clear()
      return []
    }
    for (const row of now.early) open.set(row.blockId, row)
    // A new block is first reported as pending, whatever its state: a client sees each state of a block once.
    for (const row of now.rows) open.set(row.blockId, { ...row, state: 'PENDING' })
    const events: LedgerEvent[] = now.rows.map((row) => ({
      kind: 'block',
      block: viewOfBlock(row),
    }))
    for (const { blockId, state } of now.states) {
      const former = open.get(blockId)
      if (former === undefined || former.state === state) continue
      const row = { ...former, state }
      if (isLast[state]) open.delete(blockId)
      else open.set(blockId, row)
      events.push({ kind: 'state', block: viewOfBlock(row) })
    }
    return events
  }

  function outputEvents(now: OutputsNow | undefined): LedgerEvent[] {
    seq = now?.seq
    return (now?.outputIds ?? []).map((outputId) => ({ kind: 'output', outputId }))
  }

  function restart(): void {
    slot = undefined
    inbox = undefined
    seq = undefined
  }

  return { next, restart }
}

interface BlocksNow {
  /** The inbox position up to which blocks are known. */
  readonly inbox: number
  readonly rows: readonly BlockRow[]
  /** The early blocks whose state may still change. */
  readonly early: readonly BlockRow[]
  readonly states: Awaited<ReturnType<StoreReader['blockStates']>>
}

interface OutputsNow {
  /** The position up to which the log is known. */
  readonly seq: number
  readonly outputIds: readonly OutputId[]
}

type Read = Services['store']['read']

async function blocksAfter(
  read: Read,
  after: number,
  { open, early }: { readonly open: ReadonlyMap<BlockId, BlockRow>; readonly early: EarlyBlocks },
): Promise<BlocksNow> {
  const known = (await readEarly(read, early)).filter(
    ({ blockId, inbox, state }) => inbox <= after && !isLast[state] && !open.has(blockId),
  )
  const rows = await read.blocksAfter({ inbox: after, limit: pageSize })
  const ids = [...open.keys(), ...[...known, ...rows].map(({ blockId }) => blockId)]
  const inbox = rows.at(-1)?.inbox ?? after
  return { inbox, rows, early: known, states: await read.blockStates(ids) }
}

async function readEarly(
  read: Read,
  { blockIds, transactionIds }: EarlyBlocks,
): Promise<readonly BlockRow[]> {
  const blocks = blockIds.length === 0 ? [] : await read.blocks(blockIds)
  if (transactionIds.length === 0) return blocks
  const parts = transactionIds.map((transactionId) => ({ where: { transactionId }, ...allBlocks }))
  const carriers = await read.blockPages(parts, { order: 'descending', limit: maxCarriers })
  return [...blocks, ...carriers.flat()]
}

const allBlocks = { above: [-1, 0n, 0], below: [Number.MAX_SAFE_INTEGER, 0n, 0] } as const

async function outputsBetween(read: Read, after: number, newest: number): Promise<OutputsNow> {
  const range = { after, before: newest + 1, limit: pageSize, order: 'ascending' } as const
  const rows = await read.updates({ ...range, classes: updateClasses })
  const outputIds = new Set(rows.map(({ outputId }) => outputId))
  return { seq: rows.at(-1)?.seq ?? newest, outputIds: [...outputIds] }
}

const isLast: Readonly<Record<BlockState, boolean>> = {
  PENDING: false,
  ACCEPTED: false,
  CONFIRMED: false,
  FINALIZED: true,
  DROPPED: true,
}
