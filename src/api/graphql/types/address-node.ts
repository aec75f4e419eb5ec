import type { FieldRef } from '@pothos/core'
import { bytesToHex, type Hex, hexToBytes, isHex } from '../../../lib/hex.ts'
import { Address, MultiAddress } from '../../../protocol/addresses.ts'
import { isMultiReference } from '../../../protocol/bech32.ts'
import { addressKey } from '../../../protocol/ids.ts'
import { decode } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import { builder, type GatewayContext } from '../builder.ts'
import type { FieldsOf, Types } from '../declare.ts'
import { free } from '../execution/prices.ts'

/** Addresses as nodes. `address.ts` declares the fields for their holdings. */

/** An address, with its key and its content. */
export interface AddressView {
  /** The serialized address. For a multi address, the 33 bytes of its reference. */
  readonly key: Hex
  /** Returns the content; `undefined` for a multi address of which the key has only the reference. */
  content(): Address | undefined
}

export function viewOfKey(key: Hex): AddressView {
  return { key, content: () => contentOf(key) }
}

/** Returns the view of a decoded address. */
export function viewOfAddress(address: Address): AddressView {
  return { key: addressKey(address), content: () => address }
}

export const AddressNode = builder.nodeRef<AddressView>('Address', {
  id: { resolve: ({ key }) => key },
  loadOne: (id) => {
    const key = keyOf(id)
    return key && viewOfKey(key)
  },
})

/** Declares a field for an address that the object has as its key. It reads nothing. */
export function addressField<Parent>(
  t: FieldsOf<Parent>,
  description: string,
  keyOf: (parent: Parent, services: Services) => Hex,
): FieldRef<Types> {
  const resolve = (parent: Parent, _args: object, { services }: GatewayContext) =>
    viewOfKey(keyOf(parent, services))
  return t.field({ type: AddressNode, description, complexity: free, resolve } as never)
}

function contentOf(key: Hex): Address | undefined {
  const address = decode(Address, hexToBytes(key))
  return address.ok ? address.value : undefined
}

/** Parses the key of a global id. Returns `undefined` for an invalid key: clients choose ids. */
function keyOf(text: string): Hex | undefined {
  if (!isHex(text)) return undefined
  const bytes = hexToBytes(text as Hex)
  const key = bytesToHex(bytes)
  if (key !== text) return undefined
  if (isMultiReference(bytes)) return key
  const address = decode(Address, bytes)
  return address.ok && address.value.type !== MultiAddress.code ? key : undefined
}
