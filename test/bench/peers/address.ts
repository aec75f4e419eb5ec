import { bech32 } from 'bech32'

/** The bytes of a Bech32 text. */
export function addressBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bech32.fromWords(bech32.decode(text).words))
}

/** The Bech32 text of the bytes of an address. The texts are cached. */
export function addressText(bytes: Uint8Array): string {
  const key = Buffer.from(bytes).toString('latin1')
  const text = texts.get(key) ?? bech32.encode('tst', bech32.toWords(bytes))
  texts.set(key, text)
  return text
}

const texts = new Map<string, string>()
