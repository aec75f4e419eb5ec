import type { Hex } from '../../lib/hex.ts'
import type { AddressTotal } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { keysetCursors } from './keyset-cursor.ts'
import { type KeysetList, type PageArguments, type Paged, readKeysetPage } from './keyset-page.ts'

/** Pages of addresses: the richest, and the multi addresses of a member. */

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

/** Lists the multi addresses that an address is a member of and unspent outputs name, in the order of their bytes. */
export function listMultiAddresses(
  { store }: Pick<Services, 'store'>,
  member: Hex,
  page: Omit<PageArguments, 'sort'>,
): Paged<Pick<AddressTotal, 'address'>> {
  const list: KeysetList<Pick<AddressTotal, 'address'>> = {
    cursors: multiCursors,
    whole: { above: ['0x'], below: ['0xff'] },
    positionOf: ({ address }) => [address],
    read: async (part, order) => {
      const references = await store.read.multisOfMember(member, part, order)
      return references.map((address) => ({ address }))
    },
  }
  return readKeysetPage(list, { ...page, sort: 'OLDEST' })
}

/** The reference of a multi address has 33 bytes. */
const multiCursors = keysetCursors({ list: 'multi', values: [33] })
