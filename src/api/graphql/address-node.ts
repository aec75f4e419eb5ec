import { bytesToHex, type Hex, hexToBytes, isHex } from '../../lib/hex.ts'
import { Address, MultiAddress } from '../../protocol/addresses.ts'
import { isMultiReference } from '../../protocol/bech32.ts'
import { addressKey } from '../../protocol/ids.ts'
import { decode } from '../../protocol/schema/schema.ts'
import { builder } from './builder.ts'

/** An address as a thing of the graph; `address.ts` says what it owns. */

/** An address: its key and, where that does not say it, its content. */
export interface AddressView {
  /** The serialization of the address; of a multi address the 33 bytes of its reference. */
  readonly key: Hex
  /** `undefined` of a multi address that is known by its reference alone. */
  content(): Address | undefined
}

/** The address of a key. */
export function viewOfKey(key: Hex): AddressView {
  return { key, content: () => contentOf(key) }
}

/** The address of a key, if there is one. */
export function viewOf(key: Hex | undefined): AddressView | undefined {
  return key === undefined ? undefined : viewOfKey(key)
}

/** A decoded address. */
export function viewOfAddress(address: Address): AddressView {
  return { key: addressKey(address), content: () => address }
}

/** The type `Address`. */
export const AddressNode = builder.nodeRef<AddressView>('Address', {
  id: { resolve: ({ key }) => key },
  loadOne: (id) => {
    const key = keyOf(id)
    return key && viewOfKey(key)
  },
})

function contentOf(key: Hex): Address | undefined {
  const address = decode(Address, hexToBytes(key))
  return address.ok ? address.value : undefined
}

/** Ids come from outside. */
function keyOf(text: string): Hex | undefined {
  if (!isHex(text)) return undefined
  const bytes = hexToBytes(text as Hex)
  const key = bytesToHex(bytes)
  if (key !== text) return undefined
  if (isMultiReference(bytes)) return key
  const address = decode(Address, bytes)
  return address.ok && address.value.type !== MultiAddress.code ? key : undefined
}
