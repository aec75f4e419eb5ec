import type { CompatibleTypes, FieldRef, TypeParam } from '@pothos/core'
import { builder } from './builder.ts'
import { free } from './execution/prices.ts'

/** Declares enums and similar fields, each with its description. */

/** The types of the schema. */
export type Types = typeof builder.$inferSchemaTypes
/** The builder of the fields of objects that the resolvers receive as `Parent`. */
export type FieldsOf<Parent> = PothosSchemaTypes.FieldBuilder<Types, Parent>
type Fields = Record<string, FieldRef<Types>>
/** Descriptions of members that a field of the type can have as its value. */
type Descriptions<Parent, Type extends TypeParam<Types>, Nullable extends boolean> = {
  // The other members are named too: a type without members would accept any of them.
  readonly [Name in keyof Parent]?: Name extends CompatibleTypes<Types, Parent, Type, Nullable>
    ? string
    : never
}

/** Declares an enum whose values are their own names. */
export function enumOf<const Name extends string>(
  name: string,
  description: string,
  descriptions: Readonly<Record<Name, string>>,
) {
  const values = eachOf(descriptions, (_value, text) => ({ description: text }))
  return builder.enumType(name, {
    description,
    values: values as { readonly [N in Name]: { readonly description: string } },
  })
}

/** Declares fields of one type that expose the members of the same names. They read nothing. */
export function exposed<Parent, Type extends TypeParam<Types>>(
  t: FieldsOf<Parent>,
  type: Type,
  descriptions: Descriptions<NoInfer<Parent>, Type, false>,
): Fields {
  return eachOf(descriptions, (name, description) =>
    t.expose(name as never, { type, description, complexity: free } as never),
  )
}

/** Declares fields that expose members that may be absent. */
export function exposedOrNull<Parent, Type extends TypeParam<Types>>(
  t: FieldsOf<Parent>,
  type: Type,
  descriptions: Descriptions<NoInfer<Parent>, Type, true>,
): Fields {
  return eachOf(descriptions, (name, description) =>
    t.expose(name as never, { type, nullable: true, description, complexity: free } as never),
  )
}

/** Declares fields that expose members of a part of the object. */
export function exposedOf<Parent, Part, Type extends TypeParam<Types>>(
  t: FieldsOf<Parent>,
  partOf: (parent: Parent) => Part,
  type: Type,
  descriptions: Descriptions<NoInfer<Part>, Type, false>,
): Fields {
  return eachOf(descriptions, (name, description) => {
    const resolve = (parent: Parent) => partOf(parent)[name as keyof Part]
    return t.field({ type, description, complexity: free, resolve } as never)
  })
}

/** Converts the descriptions by name. */
function eachOf<T>(descriptions: object, itemOf: (name: string, description: string) => T) {
  const items = Object.entries(descriptions).map(
    ([name, description]) => [name, itemOf(name, description)] as const,
  )
  return Object.fromEntries(items)
}
