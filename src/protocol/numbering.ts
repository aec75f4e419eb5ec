import type { AnyVariant, ListSchema, StructSchema, VariantSchema } from './schema/composites.ts'
import type { Numbering } from './schema/reader.ts'
import { Malformed } from './schema/refusal.ts'
import type { Json } from './schema/schema.ts'

/**
 * The two numberings of type codes in a transaction: the numbering of all published clients (released), and the numbering of
 * the service document (documented), which counts context inputs from 1 and has code 3 for the NFT unlock. In memory all codes
 * are released codes. A transaction keeps the numbering of its bytes, because its id and its signatures are over these bytes.
 */

/** Marks a value that was read in the documented numbering and is written in it. */
export interface Numbered {
  readonly numbering?: 'documented'
}

/** A list that determines the numbering of its bytes, unless the list is empty. */
export function decidesNumbering<T>(schema: ListSchema<T>): ListSchema<T> {
  return {
    ...schema,
    read: (r) => {
      const elements = schema.read(r)
      if (elements.length > 0) r.isNumberingSure = true
      return elements
    },
  }
}

/** A transaction that keeps its numbering. In JSON, the members of its context inputs determine the numbering. */
export function transactionInItsNumbering<T extends object>(
  schema: StructSchema<T>,
  contextInputs: readonly AnyVariant[],
): StructSchema<T & Numbered> {
  return {
    ...schema,
    read: (r) => marked(schema.read(r), r.numbering),
    write: (w, value) => {
      const around = w.numbering
      w.numbering = value.numbering ?? 'released'
      schema.write(w, value)
      w.numbering = around
    },
    parse: (json) => {
      const numbering = numberingOfJson(json, contextInputs)
      if (numbering === 'released') return schema.parse(json)
      return marked(
        schema.parse(mapMember(json, 'contextInputs', toReleased(contextInputs))),
        numbering,
      )
    },
    print: (value) => {
      const json = schema.print(value)
      if (value.numbering === undefined || json === undefined) return json
      return mapMember(json, 'contextInputs', toDocumented(contextInputs)) as Json
    },
  }
}

/** A transaction with unlocks that follow its numbering. */
export function unlocksInItsNumbering<
  C extends number,
  T extends { readonly transaction: Numbered },
>(
  schema: VariantSchema<C, T>,
  contextInputs: readonly AnyVariant[],
  unlocks: readonly AnyVariant[],
): VariantSchema<C, T> {
  return {
    ...schema,
    write: (w, value) => {
      const around = w.numbering
      w.numbering = value.transaction.numbering ?? 'released'
      schema.write(w, value)
      w.numbering = around
    },
    parse: (json) => {
      const numbering = numberingOfJson(memberOf(json, 'transaction'), contextInputs, 'transaction')
      if (numbering === 'released') return schema.parse(json)
      refuseReleasedCodes(json, unlocks)
      return schema.parse(mapUnlocks(json, toReleased(unlocks)))
    },
    print: (value) => {
      const json = schema.print(value)
      if (value.transaction.numbering === undefined || json === undefined) return json
      return mapUnlocks(json, toDocumented(unlocks)) as Json
    },
  }
}

function marked<T extends object>(value: T, numbering: Numbering): T & Numbered {
  return numbering === 'documented' ? { ...value, numbering } : value
}

/** The numbering of the context inputs in JSON; released if they do not determine it. Mixed numberings are refused. */
function numberingOfJson(
  transaction: unknown,
  variants: readonly AnyVariant[],
  ...place: readonly string[]
): Numbering {
  const inputs = elementsOf(transaction, 'contextInputs')
  const marks = inputs.map((input) => markOf(input, variants))
  const first = marks.find((mark) => mark !== undefined)
  const other = marks.findIndex((mark) => mark !== undefined && mark !== first)
  if (other === -1) return first ?? 'released'
  throw new Malformed('NUMBERING_MIXED', undefined, ...place, 'contextInputs', other)
}

/** The numbering in which the type code of a context input matches its members. */
function markOf(input: unknown, variants: readonly AnyVariant[]): Numbering | undefined {
  const type = memberOf(input, 'type')
  const kinds = variants.filter(({ fields }) =>
    Object.keys(fields).every((key) => memberOf(input, key) !== undefined),
  )
  if (kinds.some(({ code }) => code === type)) return 'released'
  return kinds.some(({ documentedCode }) => documentedCode === type) ? 'documented' : undefined
}

/** Refuses codes that only the released numbering has beside documented context inputs. */
function refuseReleasedCodes(json: unknown, variants: readonly AnyVariant[]): void {
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

function toReleased(variants: readonly AnyVariant[]): Renumber {
  return (element) => {
    const type = memberOf(element, 'type')
    const kind = variants.find((one) => documentedCodeOf(one) === type)
    return kind === undefined ? element : { ...Object(element), type: kind.code }
  }
}

function toDocumented(variants: readonly AnyVariant[]): Renumber {
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
  return Array.isArray(elements) && elements.length <= maxElements ? elements : []
}

/** Maximum number of context inputs, and of unlocks. */
const maxElements = 128

function memberOf(json: unknown, key: string): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  return Object.hasOwn(json, key) ? Reflect.get(json, key) : undefined
}
