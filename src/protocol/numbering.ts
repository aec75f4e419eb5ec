import type { AnyVariant, ListSchema, StructSchema, VariantSchema } from './schema/composites.ts'
import type { Numbering } from './schema/reader.ts'
import { Malformed } from './schema/refusal.ts'
import type { Json } from './schema/schema.ts'

/**
 * The two numberings of a transaction: that of every published client (released), and that of the service document
 * (documented), which counts context inputs from 1 and gives the NFT unlock the code 3. In memory all codes are
 * released ones. A transaction remembers the numbering it came in, for its id and its signatures are over those bytes.
 */

/** The mark of a value that came in the documented numbering and is written in it. */
export interface Numbered {
  readonly numbering?: 'documented'
}

/** A list that settles the numbering of the bytes it was read from, unless it is empty. */
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

/** A transaction keeps its numbering; in JSON the members of its context inputs show it. */
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

/** The numbering that the context inputs show; the released one where they show none. Two that disagree are refused. */
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

/** The numbering in which the code of a context input is that of the kind whose member it has. */
function markOf(input: unknown, variants: readonly AnyVariant[]): Numbering | undefined {
  const type = memberOf(input, 'type')
  const kinds = variants.filter(({ fields }) =>
    Object.keys(fields).every((key) => memberOf(input, key) !== undefined),
  )
  if (kinds.some(({ code }) => code === type)) return 'released'
  return kinds.some(({ documentedCode }) => documentedCode === type) ? 'documented' : undefined
}

/** A code that only the released numbering has cannot stand beside documented context inputs. */
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

/** Gives an element the code of its kind in another numbering. */
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

/** Renumbers unlocks, those inside multi unlocks too. */
function mapUnlocks(json: unknown, renumber: Renumber): unknown {
  return mapMember(json, 'unlocks', (unlock) => mapMember(renumber(unlock), 'unlocks', renumber))
}

function documentedCodeOf({ code, documentedCode }: AnyVariant): number | 'none' | undefined {
  return documentedCode ?? code
}

/** The object with the elements of one of its lists replaced; anything else as it is. */
function mapMember(json: unknown, key: string, change: Renumber): unknown {
  const elements = memberOf(json, key)
  return Array.isArray(elements) ? { ...Object(json), [key]: elements.map(change) } : json
}

function elementsOf(json: unknown, key: string): readonly unknown[] {
  const elements = memberOf(json, key)
  return Array.isArray(elements) ? elements : []
}

function memberOf(json: unknown, key: string): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  return Object.hasOwn(json, key) ? Reflect.get(json, key) : undefined
}
