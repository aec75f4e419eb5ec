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
import { maxMergedFields } from './limits.ts'

/**
 * The rule that fields of one name in the answer can be merged (GraphQL specification 5.3.2), in time that grows with the document
 * and not with its square: those of a name are compared with the first of them, and what they select is merged and checked as one,
 * where the library compares each pair (S. Adameit, "Fast validation of overlapping fields can be merged"). The library gives up
 * after so many pairs that a request holds the event loop for 120 ms.
 */

/** Puts it in the place of the library's rule, on every transport. */
export const overlappingFields: Plugin = {
  onValidate({ validateFn, setValidationFn }) {
    const replaced = (rules: typeof specifiedRules = specifiedRules) =>
      rules.map((rule) => (rule === OverlappingFieldsCanBeMergedRule ? fieldsCanBeMerged : rule))
    setValidationFn((schema, document, rules, ...others) =>
      validateFn(schema, document, replaced(rules), ...others),
    )
  },
}

/** The rule. It says of the fields of each name one reason at most why they cannot be merged. */
export function fieldsCanBeMerged(context: ValidationContext): ASTVisitor {
  return { Document: () => checkDocument(context) }
}

function checkDocument(context: ValidationContext): void {
  const schema = context.getSchema()
  const merging = createMerging(context)
  const fragments: FragmentDefinitionNode[] = []
  for (const definition of context.getDocument().definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.push(definition)
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const type = schema.getRootType(definition.operation) ?? undefined
    merging.check([{ set: definition.selectionSet, type }], 'TOGETHER')
  }
  // The others have been checked where they are spread.
  for (const { name, selectionSet, typeCondition } of fragments) {
    const type = schema.getType(typeCondition.name.value)
    if (!merging.isSpread(name.value)) merging.check([{ set: selectionSet, type }], 'TOGETHER')
  }
}

/** A field, where it is selected of a type. */
interface Selected {
  readonly node: FieldNode
  /** Of the fragment or field around it; absent where there is no such type. */
  readonly parent: GraphQLNamedType | undefined
  readonly type: GraphQLOutputType | undefined
  /** The field whose selection it is of; absent in that of an operation or a fragment. */
  readonly outer: Selected | undefined
}

/** What is selected of a type. */
interface Selection {
  readonly set: SelectionSetNode
  readonly type: GraphQLNamedType | undefined
  readonly outer?: Selected | undefined
}

/** Whether fields are of one object, or of objects of different types: of these only the types of their values must agree. */
type Parents = 'TOGETHER' | 'APART'

function createMerging(context: ValidationContext) {
  const checked = new Set<string>()
  const numbers = new Map<SelectionSetNode, number>()
  const spread = new Set<string>()
  const spreadAlone = new Map<string, Selection>()
  const textOf = createArgumentTexts()
  const reported = new Set<FieldNode>()
  let merged = 0

  function check(given: readonly Selection[], parents: Parents): void {
    const selections = given.map(withinSpreads)
    if (isChecked(selections, parents)) return
    for (const fields of collect(selections)) {
      if (parents === 'APART') checkApart(fields)
      else checkTogether(fields)
    }
  }

  /** Many operations may select no more than a fragment, which is then checked once for all. */
  function withinSpreads(selection: Selection): Selection {
    const [one, ...others] = selection.set.selections
    if (one?.kind !== Kind.FRAGMENT_SPREAD || others.length > 0) return selection
    const known = spreadAlone.get(one.name.value)
    if (known !== undefined) return { ...selection, ...known }
    const fragment = context.getFragment(one.name.value)
    if (!fragment) return selection
    const around = insideOf(context, fragment, undefined)
    spread.add(one.name.value)
    // Where fragments go round, another rule refuses the document.
    spreadAlone.set(one.name.value, around)
    const inside = withinSpreads(around)
    spreadAlone.set(one.name.value, inside)
    return { ...selection, ...inside }
  }

  /** What is merged at several places of the answer is checked once. */
  function isChecked(selections: readonly Selection[], parents: Parents): boolean {
    const key = [parents, ...selections.map(({ set }) => numberOf(set))].join()
    const isKnown = checked.has(key)
    checked.add(key)
    return isKnown
  }

  function numberOf(set: SelectionSetNode): number {
    const number = numbers.get(set) ?? numbers.size
    numbers.set(set, number)
    return number
  }

  /** Whether there is still so much to be compared; the first time that there is not is reported. */
  function count(fields: number): boolean {
    const wasWithin = merged <= maxMergedFields
    merged += fields
    if (merged <= maxMergedFields) return true
    if (wasWithin) context.reportError(new GraphQLError(tooManyMerged))
    return false
  }

  /** All fields that are selected, of fragments too, by their names in the answer. */
  function collect(selections: readonly Selection[]): Iterable<readonly Selected[]> {
    const fields = new Map<string, Selected[]>()
    const here = new Set<string>()
    const add = (selection: Selection): void => {
      const fragments: FragmentDefinitionNode[] = []
      if (!count(selection.set.selections.length)) return
      for (const one of selection.set.selections) {
        if (one.kind === Kind.FIELD) {
          const name = (one.alias ?? one.name).value
          const same = fields.get(name)
          if (same === undefined) fields.set(name, [selectedOf(one, selection)])
          else same.push(selectedOf(one, selection))
        } else if (one.kind === Kind.INLINE_FRAGMENT) {
          add({ ...selection, ...insideOf(context, one, selection.type) })
        } else if (!here.has(one.name.value)) {
          here.add(one.name.value)
          spread.add(one.name.value)
          const fragment = context.getFragment(one.name.value)
          if (fragment) fragments.push(fragment)
        }
      }
      // Behind the others, as the library names them.
      for (const one of fragments) add({ ...selection, ...insideOf(context, one, undefined) })
    }
    for (const selection of selections) add(selection)
    return fields.values()
  }

  function checkTogether(fields: readonly Selected[]): void {
    const types = new Set(fields.flatMap(({ parent }) => (isObjectType(parent) ? [parent] : [])))
    if (types.size < 2) checkOfOneObject(fields)
    else if (checkApart(fields)) checkByTypes(fields, types)
  }

  function checkByTypes(fields: readonly Selected[], types: Iterable<GraphQLObjectType>): void {
    for (const type of types) {
      if (!count(fields.length)) return
      checkOfOneObject(fields.filter(({ parent }) => !isObjectType(parent) || parent === type))
    }
  }

  function checkOfOneObject(fields: readonly Selected[]): void {
    const other = fields.find((one) => reasonAgainst(fields[0], one) !== undefined)
    if (other !== undefined) report(fields[0], other, reasonAgainst(fields[0], other))
    else if (haveOneType(fields)) check(selectionsOf(fields), 'TOGETHER')
  }

  function reasonAgainst(first: Selected | undefined, second: Selected): string | undefined {
    if (first === undefined || first.node === second.node) return undefined
    const [one, other] = [first.node.name.value, second.node.name.value]
    if (one !== other) return `"${one}" and "${other}" are different fields`
    if (textOf(first.node) === textOf(second.node)) return undefined
    return 'they have differing arguments'
  }

  function checkApart(fields: readonly Selected[]): boolean {
    const isWell = haveOneType(fields)
    if (isWell) check(selectionsOf(fields), 'APART')
    return isWell
  }

  /** A field that its type does not have is refused by another rule. */
  function haveOneType(fields: readonly Selected[]): boolean {
    const first = fields.find(({ type }) => type !== undefined)
    const other = fields.find(({ type }) => type && !isOneShape(type, first?.type))
    if (other === undefined) return true
    report(first, other, `they return conflicting types "${first?.type}" and "${other.type}"`)
    return false
  }

  function report(first: Selected | undefined, second: Selected, reason = ''): void {
    if (first === undefined || reported.has(second.node)) return
    reported.add(second.node)
    context.reportError(conflictOf(first, second, reason))
  }

  return { check, isSpread: (fragment: string) => spread.has(fragment) }
}

const tooManyMerged = `More than ${maxMergedFields} fields of the document are merged in the answer.`

function selectedOf(node: FieldNode, { type: parent, outer }: Selection): Selected {
  const hasFields = isObjectType(parent) || isInterfaceType(parent)
  const type = hasFields ? parent.getFields()[node.name.value]?.type : undefined
  return { node, parent, type, outer }
}

/** What a fragment selects, and of which type. */
function insideOf(
  context: ValidationContext,
  { selectionSet: set, typeCondition }: InlineFragmentNode | FragmentDefinitionNode,
  around: GraphQLNamedType | undefined,
): Selection {
  const name = typeCondition?.name.value
  return { set, type: name === undefined ? around : context.getSchema().getType(name) }
}

/** What the fields select themselves, each selection once. */
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

/** Whether values of both types look alike: leaves are the same, and lists and what is never null are so at the same places. */
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

/** In the words of the library: the reason stands within that of every pair of fields around it. */
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

/** Gives the arguments of a field as a text that is the same for the same arguments, in whatever order they stand. */
function createArgumentTexts(): (node: FieldNode) => string {
  const texts = new Map<FieldNode, string>()
  return (node) => {
    if (!node.arguments?.length) return ''
    const known = texts.get(node)
    if (known !== undefined) return known
    const text = membersText(node.arguments)
    texts.set(node, text)
    return text
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
