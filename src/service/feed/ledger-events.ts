import type { BlockId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { BlockRow, BlockState } from '../../store/rows.ts'
import { type BlockView, decodeBlock } from '../blocks/read-block.ts'

/** What happens on the ledger, as somebody hears of it who looks now and then: slots, blocks, their states, outputs. */

/** What looking needs. */
export interface LedgerEventDeps {
  readonly store: {
    readonly read: Pick<
      StoreReader,
      'blocksAfter' | 'newestInbox' | 'blockStates' | 'updates' | 'logTip'
    >
  }
}

/** Something that happened. */
export type LedgerEvent =
  /** A slot was committed. */
  | { readonly kind: 'slot'; readonly slot: SlotIndex }
  /** A block was taken. */
  | { readonly kind: 'block'; readonly block: BlockView }
  /** A block has come further. */
  | { readonly kind: 'state'; readonly block: BlockView }
  /** An output came or went in a slot that was committed. */
  | { readonly kind: 'output'; readonly outputId: OutputId }

/** Of what is wanted to be heard. */
export interface Interests {
  readonly slots: boolean
  readonly blocks: boolean
  readonly outputs: boolean
}

/** Somebody who looks. */
export interface LedgerEventReader {
  /** What has happened since the last look; nothing of what was not wanted then. */
  look(interests: Interests): Promise<readonly LedgerEvent[]>
}

/** Slots told at once after a pause; of a longer row of them only the newest are. */
const mostSlots = 100

const pageSize = 1_000

/** Begins to look. */
export function createLedgerEventReader({ store: { read } }: LedgerEventDeps): LedgerEventReader {
  let slot: SlotIndex | undefined
  let inbox: number | undefined
  let seq: number | undefined
  /** Blocks that may still come further. */
  const open = new Map<BlockId, BlockRow>()

  async function look(interests: Interests): Promise<readonly LedgerEvent[]> {
    const tip = interests.slots || interests.outputs ? await read.logTip() : undefined
    const slots = interests.slots && tip !== undefined ? tip.slot : undefined
    const blocks = interests.blocks ? await blocksNow() : undefined
    const outputs = interests.outputs && tip !== undefined ? await outputsUpTo(tip.seq) : undefined
    // From here on nothing can fail: a look that did has told nothing, and the next one begins where it began.
    return [...slotNews(slots), ...blockNews(blocks), ...outputNews(outputs)]
  }

  function slotNews(newest: SlotIndex | undefined): LedgerEvent[] {
    const known = slot ?? newest
    slot = newest
    if (known === undefined || newest === undefined) return []
    const first = Math.max(known + 1, newest - mostSlots + 1)
    const count = Math.max(0, newest - first + 1)
    return Array.from({ length: count }, (_, i) => ({ kind: 'slot', slot: first + i }))
  }

  async function blocksNow(): Promise<BlocksNow> {
    const after = inbox ?? (await read.newestInbox())
    const rows = await read.blocksAfter({ inbox: after, limit: pageSize })
    const ids = [...open.keys(), ...rows.map(({ blockId }) => blockId)]
    return { inbox: rows.at(-1)?.inbox ?? after, rows, states: await read.blockStates(ids) }
  }

  function blockNews(now: BlocksNow | undefined): LedgerEvent[] {
    inbox = now?.inbox
    if (now === undefined) {
      open.clear()
      return []
    }
    // Told as pending first, however far it has come: whoever follows a block sees every step once.
    for (const row of now.rows) open.set(row.blockId, { ...row, state: 'PENDING' })
    const news: LedgerEvent[] = now.rows.map((row) => ({ kind: 'block', block: viewOf(row) }))
    for (const { blockId, state } of now.states) {
      const former = open.get(blockId)
      if (former === undefined || former.state === state) continue
      const row = { ...former, state }
      if (isLast[state]) open.delete(blockId)
      else open.set(blockId, row)
      news.push({ kind: 'state', block: viewOf(row) })
    }
    return news
  }

  async function outputsUpTo(newest: number): Promise<OutputsNow> {
    const after = seq ?? newest
    const range = { after, before: newest + 1, limit: pageSize, order: 'ascending' } as const
    const rows = await read.updates({ ...range, classes: ['OWNED', 'MENTIONED'] })
    const outputIds = new Set(rows.map(({ outputId }) => outputId))
    return { seq: rows.at(-1)?.seq ?? newest, outputIds: [...outputIds] }
  }

  function outputNews(now: OutputsNow | undefined): LedgerEvent[] {
    seq = now?.seq
    return (now?.outputIds ?? []).map((outputId) => ({ kind: 'output', outputId }))
  }

  return { look }
}

/** What a look found of blocks. */
interface BlocksNow {
  /** Up to this place they are known with it. */
  readonly inbox: number
  readonly rows: readonly BlockRow[]
  readonly states: Awaited<ReturnType<StoreReader['blockStates']>>
}

/** What a look found of outputs. */
interface OutputsNow {
  /** Up to this position the log is known with it. */
  readonly seq: number
  readonly outputIds: readonly OutputId[]
}

const isLast: Readonly<Record<BlockState, boolean>> = {
  PENDING: false,
  ACCEPTED: false,
  CONFIRMED: false,
  FINALIZED: true,
  DROPPED: true,
}

function viewOf(row: BlockRow): BlockView {
  return { ...row, block: () => decodeBlock(row.bytes) }
}
