import type { AddressTotal } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { keysetCursors } from './keyset-cursor.ts'
import { type KeysetList, type PageArguments, type Paged, readKeysetPage } from './keyset-page.ts'

/** Addresses, the richest first, page by page. */

/** An address with all that it owns. */
export type { AddressTotal } from '../../store/rows.ts'

/** The addresses that own base tokens as of the newest milestone; of those that own the same, the last by bytes first. */
export function listAddresses(
  { store }: Pick<Services, 'store'>,
  page: Omit<PageArguments, 'sort'>,
): Paged<AddressTotal> {
  const list: KeysetList<AddressTotal> = {
    cursors: addressCursors,
    whole: { above: [-1n, '0x'], below: [maximum, '0x'] },
    positionOf: ({ address, total }) => [total, address],
    read: async (part, order) => (await store.read.addressPages([part], order)).flat(),
  }
  // Under NEWEST the greatest positions come first.
  return readKeysetPage(list, { ...page, sort: 'NEWEST' })
}

/** More than there can be: the supply has fewer than 64 bits. */
const maximum = 2n ** 63n - 1n

const addressCursors = keysetCursors({ list: 'address', values: ['AMOUNT', 'ADDRESS'] })
