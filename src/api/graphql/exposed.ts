import type { FieldRef } from '@pothos/core'
import type { builder } from './builder.ts'

/** Fields that are members of the thing itself under their names: each is declared by its sentence. */

type Types = typeof builder.$inferSchemaTypes
type FieldsOf<Name extends string, T> = PothosSchemaTypes.ObjectFieldBuilder<
  Types,
  Readonly<Record<NoInfer<Name>, T>>
>
type Sentences<Name extends string> = Readonly<Record<Name, string>>

/** Slots, epochs and other numbers of 32 bits. */
export function uint32s<const Name extends string>(
  t: FieldsOf<Name, number>,
  sentences: Sentences<Name>,
): Record<string, FieldRef<Types, number>> {
  return eachOf(sentences, (name, description) =>
    t.field({ type: 'UInt32', description, resolve: (thing) => thing[name] }),
  )
}

/** Amounts, and counts that may grow beyond 32 bits. */
export function uint64s<const Name extends string>(
  t: FieldsOf<Name, number | bigint>,
  sentences: Sentences<Name>,
): Record<string, FieldRef<Types, number | bigint>> {
  return eachOf(sentences, (name, description) =>
    t.field({ type: 'UInt64', description, resolve: (thing) => thing[name] }),
  )
}

/** Fields of one form, each by its name and its sentence. */
export function eachOf<const Name extends string, Field>(
  sentences: Sentences<Name>,
  fieldOf: (name: Name, description: string) => Field,
): Record<string, Field> {
  const fields = Object.entries<string>(sentences).map(
    ([name, description]) => [name, fieldOf(name as Name, description)] as const,
  )
  return Object.fromEntries(fields)
}
