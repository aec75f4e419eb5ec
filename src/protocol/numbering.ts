import { isJsonObject } from '../lib/json.ts'
import { ContextInput } from './inputs.ts'
import { maxPerTransaction } from './primitives.ts'
import type { AnyVariant, StructSchema, UnionSchema, VariantSchema } from './schema/composites.ts'
import type { Numbering } from './schema/reader.ts'
import { Malformed } from './schema/refusal.ts'
import type { Json } from './schema/schema.ts'
import type { Writer } from './schema/writer.ts'
import { Unlock } from './unlocks.ts'

/**
 * The two numberings of type codes in a transaction: the numbering of all published clients (released), and the numbering of
 * the service document (documented), which counts context inputs from 1 and has code 3 for the NFT unlock. In memory all codes
 * are released codes. A transaction keeps the numbering of its bytes, because its id and its signatures are over these bytes.
 */

/** Marks a value that was read in the documented numbering and is written in it. */
export interface Numbered {
  readonly numbering?: 'documented'
}

/** A transaction that keeps its numbering. In JSON, the members of its context inputs determine the numbering. */
export function transactionInItsNumbering<T extends object>(
  schema: StructSchema<T>,
): StructSchema<T & Numbered> {
  return {
    ...schema,
    read: (r) => marked(schema.read(r), r.numbering),
    write: (w, value) => writeIn(value.numbering, w, () => schema.write(w, value)),
    parse: (json) => {
      const numbering = numberingOfJson(json)
      if (numbering === 'released') return schema.parse(json)
      return marked(
        schema.parse(mapMember(json, 'contextInputs', toReleased(ContextInput))),
        numbering,
      )
    },
    print: (value) => {
      const json = schema.print(value)
      if (value.numbering === undefined || json === undefined) return json
      return mapMember(json, 'contextInputs', toDocumented(ContextInput)) as Json
    },
  }
}

/** A transaction with unlocks that follow its numbering. */
export function unlocksInItsNumbering<
  C extends number,
  T extends { readonly transaction: Numbered },
>(schema: VariantSchema<C, T>): VariantSchema<C, T> {
  return {
    ...schema,
    write: (w, value) => writeIn(value.transaction.numbering, w, () => schema.write(w, value)),
    parse: (json) => {
      const numbering = numberingOfJson(memberOf(json, 'transaction'), 'transaction')
      if (numbering === 'released') return schema.parse(json)
      refuseReleasedCodes(json)
      return schema.parse(mapUnlocks(json, toReleased(Unlock)))
    },
    print: (value) => {
      const json = schema.print(value)
      if (value.transaction.numbering === undefined || json === undefined) return json
      return mapUnlocks(json, toDocumented(Unlock)) as Json
    },
  }
}

function marked<T extends object>(value: T, numbering: Numbering): T & Numbered {
  return numbering === 'documented' ? { ...value, numbering } : value
}

/** Writes a part of the bytes in its numbering, and leaves the writer in the numbering around it. */
function writeIn(numbering: Numbering | undefined, w: Writer, write: () => void): void {
  const around = w.numbering
  w.numbering = numbering ?? 'released'
  write()
  w.numbering = around
}

/** The numbering of the context inputs in JSON; released if they do not determine it. Mixed numberings are refused. */
function numberingOfJson(transaction: unknown, ...place: readonly string[]): Numbering {
  const marks = elementsOf(transaction, 'contextInputs').map(markOf)
  const first = marks.find((mark) => mark !== undefined)
  const other = marks.findIndex((mark) => mark !== undefined && mark !== first)
  if (other === -1) return first ?? 'released'
  throw new Malformed('NUMBERING_MIXED', undefined, ...place, 'contextInputs', other)
}

/** The numbering in which the type code of a context input matches its members. */
function markOf(input: unknown): Numbering | undefined {
  const type = memberOf(input, 'type')
  const kinds = ContextInput.variants.filter(({ fields }) =>
    Object.keys(fields).every((key) => memberOf(input, key) !== undefined),
  )
  if (kinds.some(({ code }) => code === type)) return 'released'
  return kinds.some(({ documentedCode }) => documentedCode === type) ? 'documented' : undefined
}

/** Refuses codes that only the released numbering has beside documented context inputs. */
function refuseReleasedCodes(json: unknown): void {
  const { variants } = Unlock
  const refuse = (unlock: unknown, ...place: readonly (string | number)[]) => {
    const type = memberOf(unlock, 'type')
    const isDocumented = variants.some((one) => documentedCodeOf(one) === type)
    if (isDocumented || !variants.some(({ code }) => code === type)) return
    throw new Malformed('NUMBERING_MIXED', undefined, ...place)
  }
  elementsOf(json, 'unlocks').forEach((unlock, i) => {
    refuse(unlock, 'unlocks', i)
    elementsOf(unlock, 'unlocks').forEach((member, k) => {
      refuse(member, 'unlocks', i, 'unlocks', k)
    })
  })
}

/** Converts the type code of an element to another numbering. */
type Renumber = (element: unknown) => unknown

function toReleased({ variants }: UnionSchema<unknown>): Renumber {
  return (element) => {
    const type = memberOf(element, 'type')
    const kind = variants.find((one) => documentedCodeOf(one) === type)
    return kind === undefined ? element : { ...Object(element), type: kind.code }
  }
}

function toDocumented({ variants }: UnionSchema<unknown>): Renumber {
  return (element) => {
    const type = memberOf(element, 'type')
    const kind = variants.find(({ code }) => code === type)
    return kind === undefined ? element : { ...Object(element), type: documentedCodeOf(kind) }
  }
}

/** Renumbers unlocks, including unlocks inside multi unlocks. */
function mapUnlocks(json: unknown, renumber: Renumber): unknown {
  return mapMember(json, 'unlocks', (unlock) => mapMember(renumber(unlock), 'unlocks', renumber))
}

function documentedCodeOf({ code, documentedCode }: AnyVariant): number | 'none' | undefined {
  return documentedCode ?? code
}

/** Replaces the elements of one list of a JSON object; other values are returned unchanged. */
function mapMember(json: unknown, key: string, change: Renumber): unknown {
  const elements = elementsOf(json, key)
  return elements.length === 0 ? json : { ...Object(json), [key]: elements.map(change) }
}

/** The elements of one list of a JSON object; none of a list that is so long that it is refused, whatever its elements are. */
function elementsOf(json: unknown, key: string): readonly unknown[] {
  const elements = memberOf(json, key)
  return Array.isArray(elements) && elements.length <= maxPerTransaction ? elements : []
}

function memberOf(json: unknown, key: string): unknown {
  return isJsonObject(json) && Object.hasOwn(json, key) ? Reflect.get(json, key) : undefined
}
