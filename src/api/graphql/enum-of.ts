import { builder } from './builder.ts'

/** Declares an enum whose values are their own names, each with its sentence. */
export function enumOf<const Name extends string>(
  name: string,
  description: string,
  sentences: Readonly<Record<Name, string>>,
) {
  const values = Object.entries<string>(sentences).map(
    ([value, sentence]) => [value, { description: sentence }] as const,
  )
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values) as {
      readonly [N in Name]: { readonly description: string }
    },
  })
}
