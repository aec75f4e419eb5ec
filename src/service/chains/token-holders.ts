import { ok } from '../../lib/result.ts'
import type { AddressTotal } from '../../store/rows.ts'
import { uint256ToHex } from '../../store/values.ts'
import { keysetCursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import type { tokenParts } from './chain-parts.ts'

/** The owners of a native token as of the newest milestone. */

/** An address with the amount of the token that it owns. */
export interface TokenHolderView extends AddressTotal {
  /** Share of the circulating supply, from 0 to 1. */
  readonly share: number
}

/** Lists the holders of a token, the largest amount first. */
export async function listTokenHolders(
  { store }: Pick<Services, 'store'>,
  {
    tokenId,
    circulatingSupply,
  }: Pick<ReturnType<typeof tokenParts>, 'tokenId' | 'circulatingSupply'>,
  args: Omit<PageArguments, 'sort'>,
): Paged<TokenHolderView> {
  const list: KeysetList<AddressTotal> = {
    // Cursors hold the amount of this token as 32 bytes, and the address.
    cursors: keysetCursors({ list: `holder ${tokenId}`, values: [32, 'ADDRESS'] }),
    whole: { above: ['0x', '0x'], below: [`0x${'ff'.repeat(33)}`, '0x'] },
    positionOf: ({ total, address }) => [uint256ToHex(total), address],
    read: (part, page) => store.read.tokenHolders(tokenId, part, page),
  }
  const page = await readKeysetPage(list, { ...args, sort: 'NEWEST' })
  if (!page.ok) return page
  const nodes = page.value.nodes.map((holder) => ({
    ...holder,
    share: shareOf(holder.total, circulatingSupply),
  }))
  return ok({ ...page.value, nodes })
}

/** The quotient to fifteen digits. Both numbers may have 256 bits, so it is computed with integers. */
function shareOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10n ** 15n) / whole) / 1e15
}
