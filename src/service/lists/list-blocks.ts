import { err } from '../../lib/result.ts'
import type { AccountId, BlockId, TransactionId } from '../../protocol/primitives.ts'
import type { BlockConditions } from '../../store/contract/list.ts'
import { type BlockKind, type BlockState, blockKinds } from '../../store/rows.ts'
import { type BlockView, viewOfBlock } from '../blocks/read-block.ts'
import { checkOffered, type NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type MilestoneBounds,
  type PageArguments,
  type Paged,
  type ReadPart,
  type ReadParts,
  readPartPage,
  readSlotPage,
  type SlotList,
} from './keyset-page.ts'

/** Pages of blocks. */

/** Conditions on blocks; a listed block meets all of them. */
export interface BlockFilter extends MilestoneBounds {
  readonly kind?: 'BASIC' | 'VALIDATION' | null | undefined
  readonly payload?: 'NONE' | 'TAGGED_DATA' | 'TRANSACTION' | 'CANDIDACY' | null | undefined
  readonly state?: BlockState | null | undefined
  readonly issuerId?: AccountId | null | undefined
  /** Selects the blocks that carry a transaction. */
  readonly transactionId?: TransactionId | undefined
}

/** The filter has two conditions that exclude each other. */
export interface FilterAmbiguous {
  readonly code: 'FILTER_AMBIGUOUS'
  readonly members: string
}

/** The reads that lists of blocks and transactions use. */
export interface ListReads<A, Row> {
  readonly source: Pick<Services['source'], 'node'>
  readonly read: ReadPart<A, Row>
}

/** The blocks that meet some conditions. */
export interface BlockList {
  readonly where: BlockConditions
}

/** Reads pages of several lists of blocks. */
export const readBlockParts: ReadParts<BlockList, BlockView> = async ({ store }, parts, page) => {
  const pages = await store.read.blockPages(parts, page)
  return pages.map((rows) => rows.map(viewOfBlock))
}

/** Lists blocks by their issuing time, and blocks of the same time by arrival. */
export async function listBlocks(
  { source, read }: ListReads<BlockList, BlockView>,
  filter: BlockFilter,
  args: PageArguments,
): Paged<BlockView, MilestoneRangeReversed | FilterAmbiguous | NotOffered> {
  const listed = checkOffered(source, 'lists of blocks')
  if (!listed.ok) return listed
  const { state, issuerId, transactionId } = filter
  if (state != null && issuerId != null) {
    return err({ code: 'FILTER_AMBIGUOUS', members: 'state or issuerId' })
  }
  const where = {
    transactionId,
    issuerId: issuerId ?? undefined,
    states: state == null ? undefined : [state],
    kinds: kindsOf(filter),
  }
  const list: SlotList<BlockView> = {
    cursors: blockCursors,
    beforeSlot: [-1n, -Number.MAX_SAFE_INTEGER],
    positionOf: ({ slot, issuingTime, inbox }) => [slot, issuingTime, inbox],
    read: (part, page) => read({ ...part, where, page }),
  }
  return await readSlotPage(list, filter, args)
}

const blockCursors = keysetCursors({ list: 'block', values: ['NUMBER', 'AMOUNT', 'NUMBER'] })

/** The kinds that both members allow; `undefined` if the filter has neither. */
export function kindsOf({ kind, payload }: BlockFilter): readonly BlockKind[] | undefined {
  if (kind == null && payload == null) return undefined
  const ofKind = kind == null ? blockKinds : kindsByKind[kind]
  return payload == null ? ofKind : ofKind.filter((one) => kindsByPayload[payload].includes(one))
}

const kindsByKind: Record<NonNullable<BlockFilter['kind']>, readonly BlockKind[]> = {
  BASIC: blockKinds.filter((kind) => kind !== 'validation'),
  VALIDATION: ['validation'],
}

const kindsByPayload: Record<NonNullable<BlockFilter['payload']>, readonly BlockKind[]> = {
  NONE: ['basic', 'validation'],
  TAGGED_DATA: ['tagged'],
  TRANSACTION: ['transaction'],
  CANDIDACY: ['candidacy'],
}

/** The children of a block. */
export interface ChildList {
  readonly parent: BlockId
}

/** Reads pages of the children of several blocks. */
export const readChildParts: ReadParts<ChildList, BlockView> = async ({ store }, parts, page) => {
  const pages = await store.read.childPages(parts, page)
  return pages.map((rows) => rows.map(viewOfBlock))
}

/** Lists the blocks that refer to a block, by arrival. */
export async function listChildBlocks(
  { source, read }: ListReads<ChildList, BlockView>,
  parent: BlockId,
  args: PageArguments,
): Paged<BlockView, NotOffered> {
  const listed = checkOffered(source, 'the children of a block')
  if (!listed.ok) return listed
  return await readPartPage(read, { parent }, byArrival, args)
}

const byArrival = {
  cursors: keysetCursors({ list: 'child', values: ['NUMBER'] }),
  whole: { above: [-Number.MAX_SAFE_INTEGER], below: [Number.MAX_SAFE_INTEGER] },
  positionOf: ({ inbox }: BlockView) => [inbox],
}
