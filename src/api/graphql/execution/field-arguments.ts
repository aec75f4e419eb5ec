import { GraphQLError, getArgumentValues } from 'graphql'

/** Reads the arguments of a field before its execution. */

type Field = Parameters<typeof getArgumentValues>[0]
type Node = Parameters<typeof getArgumentValues>[1]

/** Returns the arguments of a field; `undefined` if a variable is null where an argument must not be: the executor returns an error for the field. */
export function argumentsOf(
  field: Field,
  node: Node,
  variables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  try {
    return getArgumentValues(field, node, variables)
  } catch (failure) {
    if (failure instanceof GraphQLError) return undefined
    throw failure
  }
}
