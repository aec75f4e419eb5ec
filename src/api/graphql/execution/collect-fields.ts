import {
  type DirectiveNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { type Fragments, fragmentAt } from './fragments.ts'

/** Collects the fields of a selection for one type (GraphQL specification 6.3.2, CollectFields). */

/** Values of the variables in `@skip` and `@include`, by name. */
export type Conditions = ReadonlyMap<string, boolean>

/** Name of the field that every type has. */
export const typeNameField = '__typename'

/** The introspection fields of the query type, by name. */
export const introspectionFields: ReadonlyMap<string, GraphQLField<unknown, unknown>> = new Map(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]),
)

/** The selections to collect fields from, and their type. */
export interface Collection {
  readonly schema: GraphQLSchema
  readonly fragments: Fragments
  readonly conditions: Conditions
  readonly type: GraphQLObjectType
  /** An operation, or the fields of one response name. */
  readonly nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[]
}

/** Returns the fields by response name, in the order of their first occurrence. */
export function collectFields(collection: Collection): ReadonlyMap<string, FieldNode[]> {
  const { schema, fragments, conditions, type, nodes } = collection
  const fields = new Map<string, FieldNode[]>()
  const seen = new Set<string>()

  function collect(set: SelectionSetNode): void {
    for (const selection of set.selections) {
      if (!isIncluded(selection.directives, conditions)) continue
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        getOrInsert(fields, name, () => []).push(selection)
        continue
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (seen.has(selection.name.value)) continue
        seen.add(selection.name.value)
      }
      const fragment = fragmentAt(selection, fragments)
      if (fragment === undefined) continue
      const condition = fragment.typeCondition?.name.value ?? type.name
      if (isOfType(schema, type, condition)) collect(fragment.selectionSet)
    }
  }

  for (const { selectionSet } of nodes) if (selectionSet !== undefined) collect(selectionSet)
  return fields
}

/** Whether a fragment on `condition` applies to objects of a type. */
export function isOfType(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  condition: string,
): boolean {
  const other = schema.getType(condition)
  return other === type || (isAbstractType(other) && schema.isSubType(other, type))
}

function isIncluded(
  directives: readonly DirectiveNode[] | undefined,
  conditions: Conditions,
): boolean {
  return (directives ?? []).every(({ name, arguments: given }) => {
    const value = given?.find((argument) => argument.name.value === 'if')?.value
    const isTrue =
      value?.kind === Kind.VARIABLE
        ? conditions.get(value.name.value) === true
        : value?.kind === Kind.BOOLEAN && value.value
    if (name.value === 'skip') return !isTrue
    return name.value !== 'include' || isTrue
  })
}
