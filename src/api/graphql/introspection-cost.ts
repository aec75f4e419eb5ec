import {
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SchemaMetaFieldDef,
  type SelectionSetNode,
} from 'graphql'

/**
 * How many fields an introspection lists: exactly as many as its execution would resolve, for the schema is there and its
 * lists have the lengths that they have. A part that is reached in many ways is counted once and added as often.
 */

/** What counting needs to know of an operation. */
export interface IntrospectionDeps {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>
  /** Counting ends beyond this limit; the result is then only known to be more. */
  readonly limit: number
}

/** Counts below `__schema` and `__type`, for one operation. */
export function createIntrospectionCount(deps: IntrospectionDeps) {
  const { schema, variables, fragments, limit } = deps
  const info = { schema } as GraphQLResolveInfo
  const counts = new Map<SelectionSetNode, Map<unknown, number>>()
  let steps = 0

  /** The fields below a field: `source` is what the field is asked of, as in its resolver. */
  function below(
    definition: MetaField,
    node: Parameters<typeof getArgumentValues>[1] & {
      readonly selectionSet?: SelectionSetNode | undefined
    },
    source: unknown,
  ): number {
    const type = getNamedType(definition.type)
    // Each step is a field that execution would resolve too, so whatever has more of them than the limit is beyond it.
    steps++
    if (steps > limit || !isObjectType(type) || node.selectionSet === undefined) return 0
    const args = definition.args.length === 0 ? {} : getArgumentValues(definition, node, variables)
    const value = definition.resolve?.(source, args, undefined, info)
    const set = node.selectionSet
    if (!isList(definition.type)) return value == null ? 0 : ofSelection(set, type, value)
    const items = Array.isArray(value) ? value : []
    return items.reduce((sum: number, item) => sum + ofSelection(set, type, item), 0)
  }

  function ofSelection(set: SelectionSetNode, type: GraphQLObjectType, value: unknown): number {
    const known = counts.get(set)?.get(value)
    if (known !== undefined) return known
    let count = 0
    for (const selection of set.selections) {
      if (steps > limit) return limit + 1
      if (selection.kind === Kind.FIELD) {
        const definition = type.getFields()[selection.name.value]
        count += 1 + (definition === undefined ? 0 : below(definition, selection, value))
      } else {
        const fragment =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)
        // Fragments on other types are not valid here.
        if (fragment !== undefined) count += ofSelection(fragment.selectionSet, type, value)
      }
    }
    const ofSet = counts.get(set) ?? new Map<unknown, number>()
    counts.set(set, ofSet.set(value, count))
    return count
  }

  return { below }
}

type MetaField = typeof SchemaMetaFieldDef

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type)
}
