import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import { blake2b256 } from './hash.ts'
import { Mana, PublicKey, TransactionId } from './primitives.ts'
import type { Broken, ListSchema } from './schema/composites.ts'
import { Malformed, within } from './schema/refusal.ts'
import { parse, type Schema } from './schema/schema.ts'

/**
 * Spellings of the service document that JSON may have in place of the released ones. They mean the same value, so
 * what is signed and every identifier are those of the released form.
 */

/** The document has a list where every client has the object alone. */
export function orListOfOne<S extends Schema<unknown>>(schema: S): S {
  return {
    ...schema,
    parse: (json) => {
      if (!Array.isArray(json) || json.length !== 1) return schema.parse(json)
      try {
        return schema.parse(json[0])
      } catch (thrown) {
        throw within(thrown, 0)
      }
    },
  }
}

/** The document has keys where every client has their hashes. The order of hashes is not that of keys, so it is made. */
export function orPublicKeys<T>(schema: ListSchema<T>): ListSchema<T> {
  return {
    ...schema,
    parse: (json) => {
      if (!Array.isArray(json) || !json.some(isSpeltAsKey)) return schema.parse(json)
      const hashed = json.map((key, i) => (isSpeltAsKey(key) ? withHash(key, i) : key))
      return schema.parse(hashed.sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)))
    },
  }
}

function isSpeltAsKey(key: unknown): key is { readonly publicKey: unknown } {
  if (typeof key !== 'object' || key === null) return false
  return Object.hasOwn(key, 'publicKey') && !Object.hasOwn(key, 'pubKeyHash')
}

function withHash(key: { readonly publicKey: unknown }, index: number): object {
  try {
    const hash = blake2b256(hexToBytes(PublicKey.parse(key.publicKey)))
    return { ...key, pubKeyHash: bytesToHex(hash) }
  } catch (thrown) {
    throw within(within(thrown, 'publicKey'), index)
  }
}

function hashOf(key: unknown): string {
  return String(Object(key).pubKeyHash).toLowerCase()
}

/** The document has the mana burned in the transaction payload too; there it must be what the body says. */
export function checkManaInPayload(maxBurnedMana: bigint, json: unknown): Broken | undefined {
  const { payload } = Object(json)
  const { type, maxBurnedMana: inPayload } = Object(payload)
  if (type !== 1 || inPayload === undefined) return undefined
  const at = ['payload', 'maxBurnedMana']
  const mana = parse(Mana, inPayload)
  if (!mana.ok) return { rule: mana.error.code, at }
  return mana.value === maxBurnedMana ? undefined : { rule: 'MANA_BURNED_DIFFERS', at }
}

/** The document has the hash alone, which does not show its slot; the refusal says what is missing. */
export const TransactionIdInFull = {
  ...TransactionId,
  parse: (json: unknown) => {
    if (typeof json === 'string' && /^0x[0-9a-f]{64}$/i.test(json)) {
      throw new Malformed('TRANSACTION_ID_WITHOUT_SLOT')
    }
    return TransactionId.parse(json)
  },
}
