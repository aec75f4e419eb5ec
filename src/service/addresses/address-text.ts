import { LRUCache } from 'lru-cache'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import { encodeBech32 } from '../../protocol/bech32.ts'

/** Cache of Bech32 texts. The rows of a page have few distinct addresses, and a checksum costs more than the rest of a row. */
const texts = new LRUCache<string, string>({ max: 4_096 })

/** The Bech32 text of an address; for a multi address, the text of its reference. */
export function addressText(hrp: string, address: Hex): string {
  // The preceding row nearly always has the same address.
  if (address === last.address && hrp === last.hrp) return last.text
  const key = hrp + address
  const known = texts.get(key)
  const text = known ?? encodeBech32(hrp, hexToBytes(address))
  if (known === undefined) texts.set(key, text)
  last = { hrp, address, text }
  return text
}

let last = { hrp: '', address: '0x' as Hex, text: '' }
