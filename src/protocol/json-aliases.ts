import { bytesToHex, hexToBytes } from '../lib/hex.ts'
import { blake2b256 } from './hash.ts'
import { Mana, PublicKey, TransactionId } from './primitives.ts'
import type { Broken, ListSchema } from './schema/composites.ts'
import { Malformed, within } from './schema/refusal.ts'
import { parse, type Schema } from './schema/schema.ts'

/**
 * JSON forms of the service document that are accepted in place of the released forms. They denote the same value, so
 * signatures and identifiers are those of the released form.
 */

/** Accepts a list of one object, as in the document, where clients write the object alone. */
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

/** Accepts public keys, as in the document, where clients write their hashes. The hashes are sorted, because their order differs. */
export function orPublicKeys<T>(schema: ListSchema<T>): ListSchema<T> {
  return {
    ...schema,
    parse: (json) => {
      // A list that is too long is refused before any key is hashed.
      if (!Array.isArray(json) || json.length > schema.max) return schema.parse(json)
      if (!json.some(isPublicKeyForm)) return schema.parse(json)
      const hashed = json.map((key, i) => (isPublicKeyForm(key) ? withHash(key, i) : key))
      return schema.parse(hashed.sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)))
    },
  }
}

function isPublicKeyForm(key: unknown): key is { readonly publicKey: unknown } {
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

/** The document has `maxBurnedMana` also in the transaction payload, where it must equal the value in the body. */
export function checkManaInPayload(maxBurnedMana: bigint, json: unknown): Broken | undefined {
  const { payload } = Object(json)
  const { type, maxBurnedMana: inPayload } = Object(payload)
  if (type !== 1 || inPayload === undefined) return undefined
  const at = ['payload', 'maxBurnedMana']
  const mana = parse(Mana, inPayload)
  if (!mana.ok) return { rule: mana.error.code, at }
  return mana.value === maxBurnedMana ? undefined : { rule: 'MANA_BURNED_DIFFERS', at }
}

/** A transaction id. The document has only the hash without the slot, which is refused with a specific code. */
export const TransactionIdInFull = {
  ...TransactionId,
  parse: (json: unknown) => {
    if (typeof json === 'string' && /^0x[0-9a-f]{64}$/i.test(json)) {
      throw new Malformed('TRANSACTION_ID_WITHOUT_SLOT')
    }
    return TransactionId.parse(json)
  },
}
