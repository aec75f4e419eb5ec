import { builder } from './builder.ts'

/** Declares an enum whose values are their own names, each with its description. */
export function enumOf<const Name extends string>(
  name: string,
  description: string,
  descriptions: Readonly<Record<Name, string>>,
) {
  const values = Object.entries<string>(descriptions).map(
    ([value, text]) => [value, { description: text }] as const,
  )
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values) as {
      readonly [N in Name]: { readonly description: string }
    },
  })
}
