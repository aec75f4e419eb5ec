import type { Hex } from '../../lib/hex.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { FoundryId } from '../../protocol/primitives.ts'
import type { HolderPosition } from '../../store/chain-contract.ts'
import type { Services } from '../services.ts'
import { cursorOf, type ListPage, type PageError, type PageQuestion, readPage } from './page.ts'

/** Who owns a native token as of the newest milestone. */

/** An address and all that it owns of the token. */
export interface TokenHolderView extends HolderPosition {
  /** Of the circulating supply, 0 to 1. */
  readonly share: number
}

/** Lists the holders of a token, the one with most first. */
export async function listTokenHolders(
  { store }: Pick<Services, 'store'>,
  { tokenId, circulating }: { readonly tokenId: FoundryId; readonly circulating: bigint },
  question: Omit<PageQuestion, 'sort'>,
): Promise<Result<ListPage<TokenHolderView>, PageError>> {
  const page = await readPage<HolderPosition, HolderPosition>(
    { ...question, sort: 'NEWEST' },
    {
      parse: parsePosition,
      positionOf: (holder) => holder,
      compare: (a, b) =>
        a.total === b.total ? compareTexts(a.address, b.address) : a.total < b.total ? -1 : 1,
      read: (interval) => store.read.tokenHolders(tokenId, interval),
    },
  )
  if (!page.ok) return page
  const rows = page.value.rows.map((holder) => ({
    ...holder,
    share: shareOf(holder.total, circulating),
  }))
  return ok({ ...page.value, rows })
}

/** To fifteen digits; both numbers may have 256 bits. */
function shareOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10n ** 15n) / whole) / 1e15
}

/** The cursor of a holder: its place by amount and address. */
export function encodeHolderCursor({ total, address }: HolderPosition): string {
  return cursorOf(`${total.toString(16)}.${address}`)
}

function parsePosition(text: string): HolderPosition | undefined {
  const [, total, address] = /^([0-9a-f]{1,64})\.(0x(?:[0-9a-f]{2})+)$/.exec(text) ?? []
  if (total === undefined || address === undefined) return undefined
  return { total: BigInt(`0x${total}`), address: address as Hex }
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
