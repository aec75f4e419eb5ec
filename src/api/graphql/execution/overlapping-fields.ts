import {
  type ASTVisitor,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  type InlineFragmentNode,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  type SelectionSetNode,
  specifiedRules,
  type ValidationContext,
  type ValueNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { maxMergedFields } from './limits.ts'

/**
 * The rule that fields of one response name can be merged (GraphQL specification 5.3.2), in time that grows with the document and not
 * with its square. Fields of a name are compared with the first of them, and their selections are merged and checked as one; the
 * library compares each pair (S. Adameit, "Fast validation of overlapping fields can be merged"). The library stops only after so
 * many pairs that a request blocks the event loop for 120 ms.
 */

/** Replaces the library's rule by `fieldsCanBeMerged`, on every transport. */
export const overlappingFields: Plugin = {
  onValidate({ validateFn, setValidationFn }) {
    const replaced = (rules: typeof specifiedRules = specifiedRules) =>
      rules.map((rule) => (rule === OverlappingFieldsCanBeMergedRule ? fieldsCanBeMerged : rule))
    setValidationFn((schema, document, rules, ...others) =>
      validateFn(schema, document, replaced(rules), ...others),
    )
  },
}

/** The rule. It reports at most one conflict for the fields of each response name. */
export function fieldsCanBeMerged(context: ValidationContext): ASTVisitor {
  return { Document: () => checkDocument(context) }
}

function checkDocument(context: ValidationContext): void {
  const schema = context.getSchema()
  const check = createCheck(context)
  const fragments: FragmentDefinitionNode[] = []
  for (const definition of context.getDocument().definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.push(definition)
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const type = schema.getRootType(definition.operation) ?? undefined
    checkMerged(check, [{ set: definition.selectionSet, type }], 'TOGETHER')
  }
  // Fragments that are spread have been checked at their spreads.
  for (const { name, selectionSet, typeCondition } of fragments) {
    const type = schema.getType(typeCondition.name.value)
    if (check.spread.has(name.value)) continue
    checkMerged(check, [{ set: selectionSet, type }], 'TOGETHER')
  }
}

/** A selected field, with the type that it is selected on. */
interface Selected {
  readonly node: FieldNode
  /** Type of the enclosing fragment or field; `undefined` when the schema has no such type. */
  readonly parent: GraphQLNamedType | undefined
  readonly type: GraphQLOutputType | undefined
  /** The field whose selection set contains this field; `undefined` at the top of an operation or a fragment. */
  readonly outer: Selected | undefined
}

/** A selection set, with the type that it applies to. */
interface Selection {
  readonly set: SelectionSetNode
  readonly type: GraphQLNamedType | undefined
  readonly outer?: Selected | undefined
}

/** Whether fields belong to one object or to objects of different types. For different types, only the types of values must agree. */
type Parents = 'TOGETHER' | 'APART'

/** State of the check of one document. */
interface Check {
  readonly context: ValidationContext
  /** Merged selections that are already checked. */
  readonly checked: Set<string>
  /** A number for each selection set, for the keys of `checked`. */
  readonly numbers: Map<SelectionSetNode, number>
  /** Names of fragments that are spread. */
  readonly spread: Set<string>
  /** Selections of fragments that are the only selection of a set, by name. */
  readonly spreadAlone: Map<string, Selection>
  /** Second fields of the conflicts that are already reported. */
  readonly reported: Set<FieldNode>
  readonly argumentText: (node: FieldNode) => string
  /** Number of fields that are merged so far. */
  merged: number
}

function createCheck(context: ValidationContext): Check {
  return {
    context,
    checked: new Set(),
    numbers: new Map(),
    spread: new Set(),
    spreadAlone: new Map(),
    reported: new Set(),
    argumentText: createArgumentTexts(),
    merged: 0,
  }
}

function checkMerged(check: Check, given: readonly Selection[], parents: Parents): void {
  const selections = given.map((selection) => withinSpreads(check, selection))
  if (isChecked(check, selections, parents)) return
  for (const fields of collect(check, selections)) {
    if (parents === 'APART') checkApart(check, fields)
    else checkTogether(check, fields)
  }
}

/** Unwraps a selection that is a single spread: many operations may select only one fragment, which is then checked once. */
function withinSpreads(check: Check, selection: Selection): Selection {
  const { context, spread, spreadAlone } = check
  const [one, ...others] = selection.set.selections
  if (one?.kind !== Kind.FRAGMENT_SPREAD || others.length > 0) return selection
  const known = spreadAlone.get(one.name.value)
  if (known !== undefined) return { ...selection, ...known }
  const fragment = context.getFragment(one.name.value)
  if (!fragment) return selection
  const around = insideOf(context, fragment, undefined)
  spread.add(one.name.value)
  // Set before the recursion, so that a cycle of fragments ends. Another rule refuses such a document.
  spreadAlone.set(one.name.value, around)
  const inside = withinSpreads(check, around)
  spreadAlone.set(one.name.value, inside)
  return { ...selection, ...inside }
}

/** Whether the same selections were merged before, at another place of the response. */
function isChecked(
  { checked, numbers }: Check,
  selections: readonly Selection[],
  parents: Parents,
): boolean {
  const key = [parents, ...selections.map(({ set }) => numberOf(numbers, set))].join()
  const isKnown = checked.has(key)
  checked.add(key)
  return isKnown
}

function numberOf(numbers: Map<SelectionSetNode, number>, set: SelectionSetNode): number {
  return getOrInsert(numbers, set, () => numbers.size)
}

/** Adds to the number of merged fields. Returns whether it is within the limit; reports an error when it first exceeds it. */
function count(check: Check, fields: number): boolean {
  const wasWithin = check.merged <= maxMergedFields
  check.merged += fields
  if (check.merged <= maxMergedFields) return true
  if (wasWithin) check.context.reportError(new GraphQLError(tooManyMerged))
  return false
}

/** Groups all selected fields by response name, including the fields of fragments. */
function collect(check: Check, selections: readonly Selection[]): Iterable<readonly Selected[]> {
  const { context, spread } = check
  const fields = new Map<string, Selected[]>()
  const spreadHere = new Set<string>()
  const add = (selection: Selection): void => {
    const fragments: FragmentDefinitionNode[] = []
    if (!count(check, selection.set.selections.length)) return
    for (const one of selection.set.selections) {
      if (one.kind === Kind.FIELD) {
        const name = (one.alias ?? one.name).value
        getOrInsert(fields, name, () => []).push(selectedOf(one, selection))
      } else if (one.kind === Kind.INLINE_FRAGMENT) {
        add({ ...selection, ...insideOf(context, one, selection.type) })
      } else if (!spreadHere.has(one.name.value)) {
        spreadHere.add(one.name.value)
        spread.add(one.name.value)
        const fragment = context.getFragment(one.name.value)
        if (fragment) fragments.push(fragment)
      }
    }
    // Fragments come after the other fields, which is the order in which the library names them.
    for (const one of fragments) add({ ...selection, ...insideOf(context, one, undefined) })
  }
  for (const selection of selections) add(selection)
  return fields.values()
}

function checkTogether(check: Check, fields: readonly Selected[]): void {
  const types = new Set(fields.flatMap(({ parent }) => (isObjectType(parent) ? [parent] : [])))
  if (types.size < 2) checkOfOneObject(check, fields)
  else if (checkApart(check, fields)) checkByTypes(check, fields, types)
}

function checkByTypes(
  check: Check,
  fields: readonly Selected[],
  types: Iterable<GraphQLObjectType>,
): void {
  for (const type of types) {
    if (!count(check, fields.length)) return
    checkOfOneObject(
      check,
      fields.filter(({ parent }) => !isObjectType(parent) || parent === type),
    )
  }
}

function checkOfOneObject(check: Check, fields: readonly Selected[]): void {
  const [first] = fields
  const other = fields.find((one) => reasonAgainst(check, first, one) !== undefined)
  if (other !== undefined) report(check, first, other, reasonAgainst(check, first, other))
  else if (haveOneType(check, fields)) checkMerged(check, selectionsOf(fields), 'TOGETHER')
}

function reasonAgainst(
  { argumentText }: Check,
  first: Selected | undefined,
  second: Selected,
): string | undefined {
  if (first === undefined || first.node === second.node) return undefined
  const [one, other] = [first.node.name.value, second.node.name.value]
  if (one !== other) return `"${one}" and "${other}" are different fields`
  if (argumentText(first.node) === argumentText(second.node)) return undefined
  return 'they have differing arguments'
}

function checkApart(check: Check, fields: readonly Selected[]): boolean {
  const isValid = haveOneType(check, fields)
  if (isValid) checkMerged(check, selectionsOf(fields), 'APART')
  return isValid
}

/** Whether the values of all fields have one shape. Skips fields that their type does not have: another rule refuses them. */
function haveOneType(check: Check, fields: readonly Selected[]): boolean {
  const first = fields.find(({ type }) => type !== undefined)
  const other = fields.find(({ type }) => type && !isOneShape(type, first?.type))
  if (other === undefined) return true
  report(check, first, other, `they return conflicting types "${first?.type}" and "${other.type}"`)
  return false
}

function report(
  { context, reported }: Check,
  first: Selected | undefined,
  second: Selected,
  reason = '',
): void {
  if (first === undefined || reported.has(second.node)) return
  reported.add(second.node)
  context.reportError(conflictOf(first, second, reason))
}

const tooManyMerged = `More than ${maxMergedFields} fields of the document are merged in the response.`

function selectedOf(node: FieldNode, { type: parent, outer }: Selection): Selected {
  const hasFields = isObjectType(parent) || isInterfaceType(parent)
  const type = hasFields ? parent.getFields()[node.name.value]?.type : undefined
  return { node, parent, type, outer }
}

/** Returns the selection of a fragment, with its type. */
function insideOf(
  context: ValidationContext,
  { selectionSet: set, typeCondition }: InlineFragmentNode | FragmentDefinitionNode,
  around: GraphQLNamedType | undefined,
): Selection {
  const name = typeCondition?.name.value
  return { set, type: name === undefined ? around : context.getSchema().getType(name) }
}

/** Returns the selections of the fields, each selection set once. */
function selectionsOf(fields: readonly Selected[]): readonly Selection[] {
  const selections = new Map<SelectionSetNode, Selection>()
  for (const field of fields) {
    const { selectionSet: set } = field.node
    if (set !== undefined && !selections.has(set)) {
      selections.set(set, { set, type: getNamedType(field.type), outer: field })
    }
  }
  return [...selections.values()]
}

/** Whether values of both types have one shape: the same leaf type, and lists and non-null types at the same levels. */
function isOneShape(one: GraphQLOutputType, other: GraphQLOutputType | undefined): boolean {
  if (one === other || other === undefined) return true
  if (isListType(one) || isListType(other)) {
    return isListType(one) && isListType(other) && isOneShape(one.ofType, other.ofType)
  }
  if (isNonNullType(one) || isNonNullType(other)) {
    return isNonNullType(one) && isNonNullType(other) && isOneShape(one.ofType, other.ofType)
  }
  return !isLeafType(one) && !isLeafType(other)
}

/** Formats a conflict as the library does: the reason is nested in a reason for each pair of enclosing fields. */
function conflictOf(first: Selected, second: Selected, reason: string): GraphQLError {
  const nodes = { firsts: [first.node], seconds: [second.node] }
  let [one, other, text] = [first, second, reason]
  while (one.outer !== undefined && other.outer !== undefined && one.outer !== other.outer) {
    text = `subfields "${nameOf(one)}" conflict because ${text}`
    one = one.outer
    other = other.outer
    nodes.firsts.unshift(one.node)
    nodes.seconds.unshift(other.node)
  }
  return new GraphQLError(
    `Fields "${nameOf(one)}" conflict because ${text}. Use different aliases on the fields to fetch both if this was intentional.`,
    { nodes: [...nodes.firsts, ...nodes.seconds] },
  )
}

function nameOf({ node }: Selected): string {
  return (node.alias ?? node.name).value
}

/** Returns a function that prints the arguments of a field as a text that does not depend on their order. */
function createArgumentTexts(): (node: FieldNode) => string {
  const texts = new Map<FieldNode, string>()
  return (node) => {
    const { arguments: given = [] } = node
    return given.length === 0 ? '' : getOrInsert(texts, node, () => membersText(given))
  }
}

interface Member {
  readonly name: { readonly value: string }
  readonly value: ValueNode
}

function membersText(members: readonly Member[]): string {
  return members
    .map(({ name, value }) => `${name.value}:${valueText(value)}`)
    .sort()
    .join()
}

function valueText(value: ValueNode): string {
  switch (value.kind) {
    case Kind.LIST:
      return `[${value.values.map(valueText).join()}]`
    case Kind.OBJECT:
      return `{${membersText(value.fields)}}`
    case Kind.VARIABLE:
      return `$${value.name.value}`
    case Kind.STRING:
      return `${value.block === true} ${JSON.stringify(value.value)}`
    case Kind.NULL:
      return value.kind
    default:
      return `${value.kind} ${value.value}`
  }
}
