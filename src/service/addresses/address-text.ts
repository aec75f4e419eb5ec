import { LRUCache } from 'lru-cache'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import { encodeBech32 } from '../../protocol/bech32.ts'

/** The rows of a page have few addresses, and the checksum of one takes longer than the rest of its row. */
const texts = new LRUCache<string, string>({ max: 4_096 })

/** The Bech32 text of an address; of a multi address that of its reference. */
export function addressText(hrp: string, address: Hex): string {
  // Nearly always the row before had the same one.
  if (address === last.address && hrp === last.hrp) return last.text
  const key = hrp + address
  const known = texts.get(key)
  const text = known ?? encodeBech32(hrp, hexToBytes(address))
  if (known === undefined) texts.set(key, text)
  last = { hrp, address, text }
  return text
}

let last = { hrp: '', address: '0x' as Hex, text: '' }
