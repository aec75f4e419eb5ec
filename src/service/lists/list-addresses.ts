import type { AddressTotal } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { keysetCursors } from './keyset-cursor.ts'
import { type KeysetList, type PageArguments, type Paged, readKeysetPage } from './keyset-page.ts'

/** Pages of addresses, the richest first. */

/** An address with its total base tokens. */
export type { AddressTotal } from '../../store/rows.ts'

/** Lists the addresses that own base tokens as of the newest milestone. Equal balances are in descending order of address bytes. */
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
  // NEWEST lists the greatest positions first.
  return readKeysetPage(list, { ...page, sort: 'NEWEST' })
}

/** An upper bound of balances: the supply has fewer than 64 bits. */
const maximum = 2n ** 63n - 1n

const addressCursors = keysetCursors({ list: 'address', values: ['AMOUNT', 'ADDRESS'] })
