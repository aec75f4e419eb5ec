import { never, words } from '../../format.ts'
import { chainTexts } from '../../texts-chains.ts'

/** Computes the changes from one state of a chain to the next. */

/** A field that differs. A new field has no value before, and a removed field has no value after. */
export interface Change {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The differences between two contents, in the order of their fields. */
export function changesOf(before: object, after: object): Change[] {
  const [old, current] = [factsOf(before), factsOf(after)]
  const names = new Set([...current.keys(), ...old.keys()])
  return [...names]
    .map((name) => ({ name, before: old.get(name), after: current.get(name) }))
    .filter((one) => one.before !== one.after)
}

/** Whether a change is of base tokens. A name may end with the key of an entry of metadata, whose value is bytes. */
export function isOfBaseTokens(name: string, value: string): boolean {
  return /(?<!token )amount$/.test(name) && /^[0-9]+$/.test(value)
}

/** Every value in a content by its name in words, such as `staking: fixed cost`. */
function factsOf(content: object): ReadonlyMap<string, string> {
  const facts = new Map<string, string>()
  for (const [key, value] of Object.entries(content)) {
    if (key === '__typename' || value === null) continue
    const name = words(key)
    if (Array.isArray(value)) addList(facts, name, value)
    else if (typeof value === 'object') {
      // An address is shown as text. The members of another object are listed by their own names.
      if ('bech32' in value) facts.set(name, String(value.bech32))
      else for (const [inner, one] of factsOf(value)) facts.set(inner, one)
    } else facts.set(name, textOf(key, value))
  }
  return facts
}

function textOf(key: string, value: string | number | boolean): string {
  if (tokenFields.has(key)) return String(BigInt(value))
  return value === never && /Slot$|Epoch$/.test(key) ? chainTexts.never : String(value)
}

/** Fields with numbers of native tokens, which GraphQL returns in hexadecimal digits. */
const tokenFields = new Set(['mintedTokens', 'meltedTokens', 'maximumSupply', 'tokenAmount'])

/** Adds the elements of a list: conditions and features by their type, metadata by its keys, and other elements by their value. */
function addList(facts: Map<string, string>, name: string, list: readonly unknown[]): void {
  for (const one of list) {
    if (typeof one !== 'object' || one === null) continue
    if ('__typename' in one) {
      const kind = words(String(one.__typename)).replace(/ (?:feature|unlock condition)$/, '')
      const inner = factsOf(one)
      if (inner.size === 0) facts.set(kind, '')
      // A member that repeats the name of its condition is not named twice.
      for (const [key, value] of inner) {
        facts.set(kind.endsWith(key) ? kind : `${kind}: ${key}`, value)
      }
    } else if ('key' in one && 'value' in one) {
      facts.set(String(one.key), String(one.value))
    } else {
      const [value] = Object.values(one)
      facts.set(`${name} ${value}`, '')
    }
  }
}
