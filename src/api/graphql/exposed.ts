import type { FieldRef } from '@pothos/core'
import type { builder } from './builder.ts'

/** Declares fields that expose the member of the same name, each with its description. */

type Types = typeof builder.$inferSchemaTypes
type FieldsOf<Name extends string, T> = PothosSchemaTypes.ObjectFieldBuilder<
  Types,
  Readonly<Record<NoInfer<Name>, T>>
>
type Descriptions<Name extends string> = Readonly<Record<Name, string>>

/** Declares fields for slots, epochs and other numbers of 32 bits. */
export function uint32s<const Name extends string>(
  t: FieldsOf<Name, number>,
  descriptions: Descriptions<Name>,
): Record<string, FieldRef<Types, number>> {
  return eachOf(descriptions, (name, description) =>
    t.field({ type: 'UInt32', description, resolve: (parent) => parent[name] }),
  )
}

/** Declares fields for amounts, and for counts that may exceed 32 bits. */
export function uint64s<const Name extends string>(
  t: FieldsOf<Name, number | bigint>,
  descriptions: Descriptions<Name>,
): Record<string, FieldRef<Types, number | bigint>> {
  return eachOf(descriptions, (name, description) =>
    t.field({ type: 'UInt64', description, resolve: (parent) => parent[name] }),
  )
}

/** Declares similar fields, each with its name and description. */
export function eachOf<const Name extends string, Field>(
  descriptions: Descriptions<Name>,
  fieldOf: (name: Name, description: string) => Field,
): Record<string, Field> {
  const fields = Object.entries<string>(descriptions).map(
    ([name, description]) => [name, fieldOf(name as Name, description)] as const,
  )
  return Object.fromEntries(fields)
}
