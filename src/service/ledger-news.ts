import type { BlockId, OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'
import type { BlockRow, BlockState } from '../store/rows.ts'
import { type BlockView, decodeBlock } from './read-block.ts'

/** What happens on the ledger, as somebody hears of it who looks now and then: slots, blocks, their states, outputs. */

/** What looking needs. */
export interface LedgerNewsDeps {
  readonly store: {
    readonly read: Pick<
      StoreReader,
      'blocksAfter' | 'newestInbox' | 'blockStates' | 'updates' | 'logTip'
    >
  }
}

/** Something that happened. */
export type News =
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
export interface NewsReader {
  /** What has happened since the last look; nothing of what was not wanted then. */
  look(interests: Interests): Promise<readonly News[]>
}

/** Slots told at once after a pause; of a longer row of them only the newest are. */
const mostSlots = 100

const pageSize = 1_000

/** Begins to look. */
export function createNewsReader({ store: { read } }: LedgerNewsDeps): NewsReader {
  let slot: SlotIndex | undefined
  let inbox: number | undefined
  let seq: number | undefined
  /** Blocks that may still come further. */
  const open = new Map<BlockId, BlockRow>()

  async function look(interests: Interests): Promise<readonly News[]> {
    const news: News[] = []
    const tip = interests.slots || interests.outputs ? await read.logTip() : undefined
    if (!interests.slots || tip === undefined) slot = undefined
    else news.push(...slotsUpTo(tip.slot))
    if (interests.blocks) news.push(...(await newBlocks()), ...(await newStates()))
    else forgetBlocks()
    if (!interests.outputs || tip === undefined) seq = undefined
    else news.push(...(await outputsUpTo(tip.seq)))
    return news
  }

  function slotsUpTo(newest: SlotIndex): News[] {
    const first = Math.max((slot ?? newest) + 1, newest - mostSlots + 1)
    slot = newest
    const count = Math.max(0, newest - first + 1)
    return Array.from({ length: count }, (_, i) => ({ kind: 'slot', slot: first + i }))
  }

  async function newBlocks(): Promise<News[]> {
    if (inbox === undefined) {
      inbox = await read.newestInbox()
      return []
    }
    const rows = await read.blocksAfter({ inbox, limit: pageSize })
    inbox = rows.at(-1)?.inbox ?? inbox
    // Told as pending first, however far it has come: whoever follows a block sees every step once.
    for (const row of rows) open.set(row.blockId, { ...row, state: 'PENDING' })
    return rows.map((row) => ({ kind: 'block', block: viewOf(row) }))
  }

  async function newStates(): Promise<News[]> {
    const news: News[] = []
    for (const { blockId, state } of await read.blockStates([...open.keys()])) {
      const former = open.get(blockId)
      if (former === undefined || former.state === state) continue
      const row = { ...former, state }
      if (isLast[state]) open.delete(blockId)
      else open.set(blockId, row)
      news.push({ kind: 'state', block: viewOf(row) })
    }
    return news
  }

  function forgetBlocks(): void {
    inbox = undefined
    open.clear()
  }

  async function outputsUpTo(newest: number): Promise<News[]> {
    const after = seq ?? newest
    const range = { after, before: newest + 1, limit: pageSize, order: 'ascending' } as const
    const rows = await read.updates({ ...range, classes: ['OWNED', 'MENTIONED'] })
    seq = rows.at(-1)?.seq ?? newest
    const outputIds = new Set(rows.map(({ outputId }) => outputId))
    return [...outputIds].map((outputId) => ({ kind: 'output', outputId }))
  }

  return { look }
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
