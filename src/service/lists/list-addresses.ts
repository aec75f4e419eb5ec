import type { Result } from '../../lib/result.ts'
import type { AddressTotal } from '../../store/view-contract.ts'
import type { Services } from '../services.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type KeysetPage,
  type ListError,
  type PageArguments,
  type Placed,
  readKeysetPage,
} from './keyset-page.ts'

/** Addresses, the richest first, page by page. */

/** A page of addresses with what they own in all. */
export type AddressListPage = KeysetPage<Placed<AddressTotal>>

/** The addresses that own base tokens as of the newest milestone; of those that own the same, the last by bytes first. */
export function listAddresses(
  { store }: Pick<Services, 'store'>,
  page: Omit<PageArguments, 'sort'>,
): Promise<Result<AddressListPage, ListError>> {
  const list = {
    cursors: addressCursors,
    whole: { above: [-1n, '0x'], below: [maximum, '0x'] },
    positionOf: ({ address, total }: AddressTotal) => [total, address],
    read: async (part, order) => (await store.read.addressPages([part], order)).flat(),
  } satisfies Parameters<typeof readKeysetPage<AddressTotal>>[0]
  // Under NEWEST the greatest positions come first.
  return readKeysetPage(list, { ...page, sort: 'NEWEST' })
}

/** More than there can be: the supply has fewer than 64 bits. */
const maximum = 2n ** 63n - 1n

const addressCursors = keysetCursors({ list: 'address', values: ['AMOUNT', 'ADDRESS'] })
