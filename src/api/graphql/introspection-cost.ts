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
 * Counts the fields of an introspection query: exactly the fields that its execution would resolve, because the schema and the lengths of
 * its lists are known. A part that is reached by many paths is counted once and added for each path.
 */

/** The parts of an operation that counting needs. */
export interface IntrospectionDeps {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Coerced variables by name. */
  readonly variables: Readonly<Record<string, unknown>>
  /** Limit at which counting stops. The result is then a number above the limit. */
  readonly limit: number
}

/** Creates a counter for the fields below `__schema` and `__type` of one operation. */
export function createIntrospectionCount(deps: IntrospectionDeps) {
  const { schema, variables, fragments, limit } = deps
  const info = { schema } as GraphQLResolveInfo
  const counts = new Map<SelectionSetNode, Map<unknown, number>>()
  let steps = 0

  /** Counts the fields below a field. `source` is the parent value, as in its resolver. */
  function below(
    definition: MetaField,
    node: Parameters<typeof getArgumentValues>[1] & {
      readonly selectionSet?: SelectionSetNode | undefined
    },
    source: unknown,
  ): number {
    const type = getNamedType(definition.type)
    // Each step is a field that execution would resolve, so more steps than the limit mean more fields than the limit.
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
        // Validation refuses fragments on other types here.
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
