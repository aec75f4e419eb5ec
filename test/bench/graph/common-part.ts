import {
  type DocumentNode,
  doTypesOverlap,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { present } from '../../../src/lib/assert.ts'

/** Reduces a document to the fields that the schema of another server has too, under the same names. */

/** A reduced document with its number of leaf fields, and the number of leaf fields of the whole document. */
export interface CommonPart {
  readonly text: string
  readonly fields: number
  readonly ofFields: number
}

/** Removes the fields of a document that a schema lacks; the benchmark sends the rest to both servers. */
export function commonPart(text: string, schema: GraphQLSchema): CommonPart {
  const document = parse(text)
  const fragments = new Map(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
    ),
  )
  const operation = present(
    document.definitions.find(
      (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
    ),
    'an operation',
  )
  const root = present(schema.getQueryType(), 'a root')
  const selectionSet = keep(operation.selectionSet, root.name, schema, fragments)
  const definitions = [withUsedVariables(operation, present(selectionSet, 'something in common'))]
  const part: DocumentNode = { kind: Kind.DOCUMENT, definitions }
  return { text: print(part), fields: leavesOf(part), ofFields: leavesOf(document) }
}

/** Removes unused variables, because servers reject them. */
function withUsedVariables(
  operation: OperationDefinitionNode,
  selectionSet: SelectionSetNode,
): OperationDefinitionNode {
  const used = new Set<string>()
  visit(selectionSet, { Variable: ({ name }) => void used.add(name.value) })
  const defined = operation.variableDefinitions ?? []
  const variableDefinitions = defined.filter(({ variable }) => used.has(variable.name.value))
  return { ...operation, variableDefinitions, selectionSet }
}

/** Reduces the selections of a type, with fragments inlined; `undefined` if nothing remains. */
function keep(
  { selections }: SelectionSetNode,
  typeName: string,
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): SelectionSetNode | undefined {
  const kept = selections.flatMap((selection): readonly SelectionNode[] => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = present(fragments.get(selection.name.value), selection.name.value)
      return keep(fragment.selectionSet, typeName, schema, fragments)?.selections ?? []
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const name = selection.typeCondition?.name.value ?? typeName
      const [own, other] = [schema.getType(typeName), schema.getType(name)]
      if (!isCompositeType(own) || !isCompositeType(other)) return []
      if (!doTypesOverlap(schema, own, other)) return []
      const inner = keep(selection.selectionSet, name, schema, fragments)
      return inner === undefined ? [] : [{ ...selection, selectionSet: inner }]
    }
    if (selection.name.value === '__typename') return [selection]
    const type = schema.getType(typeName)
    if (!isObjectType(type) && !isInterfaceType(type)) return []
    const field = type.getFields()[selection.name.value]
    if (field === undefined) return []
    const named = getNamedType(field.type)
    if (!isCompositeType(named) || selection.selectionSet === undefined) return [selection]
    const inner = keep(selection.selectionSet, named.name, schema, fragments)
    return inner === undefined ? [] : [{ ...selection, selectionSet: inner }]
  })
  return kept.length === 0 ? undefined : { kind: Kind.SELECTION_SET, selections: kept }
}

/** Counts the leaf fields; those of a fragment count once. */
function leavesOf(document: DocumentNode): number {
  return (print(document).match(/^\s*\w[\w: ]*(\([^)]*\))?$/gm) ?? []).length
}
