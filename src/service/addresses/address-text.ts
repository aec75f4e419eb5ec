import { LRUCache } from 'lru-cache'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import { encodeBech32 } from '../../protocol/bech32.ts'

/** The rows of a page have few addresses, and the checksum of one takes longer than the rest of its row. */
const texts = new LRUCache<string, string>({ max: 4_096 })

/** The Bech32 text of an address; of a multi address that of its reference. */
export function addressText(hrp: string, address: Hex): string {
  const key = hrp + address
  const known = texts.get(key)
  if (known !== undefined) return known
  const text = encodeBech32(hrp, hexToBytes(address))
  texts.set(key, text)
  return text
}
