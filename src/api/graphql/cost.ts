import {
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  type InlineFragmentNode,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { present } from '../../lib/assert.ts'
import { toGraphQL } from '../errors.ts'
import type { GatewayContext } from './builder.ts'
import { isOfType } from './collect-fields.ts'
import { createIntrospectionCount } from './introspection-cost.ts'
import {
  fieldCost,
  free,
  introspectionCost,
  maxOperationCost,
  operationCostBase,
  type Price,
  writtenCost,
} from './prices.ts'

/**
 * What an operation may cost if every page is full, in the units of `prices.ts`. A field that reads, computes, or may be long
 * says its own price where it is defined. Pages within pages, and many of them side by side, are refused before anything is
 * read. Lists within a block or an output count as one item: 32 KiB have all of them, and `budget.ts` counts what they really give.
 */

/** A longer name of a field counts as often as this goes into it: it is written with every value. */
const nameCharacters = 64

/** Why an operation is refused for what it asks for; `undefined` where it is not. */
export function costRefusal(args: ExecutionArgs): GraphQLError | undefined {
  const bill = billOf(args)
  const { observation }: Partial<GatewayContext> = Object(args.contextValue)
  if (observation !== undefined) observation.cost = bill?.cost
  if (bill === undefined || bill.cost <= maxOperationCost) return undefined
  const { cost } = bill
  const field = bill.dearestField()
  return toGraphQL({ code: 'OPERATION_TOO_COSTLY', cost, limit: maxOperationCost, field })
}

/** What an operation costs at most; `undefined` where it cannot be executed. */
export function operationCost(args: ExecutionArgs): number | undefined {
  return billOf(args)?.cost
}

/** What the executor takes for the introspection of an operation, in units; other fields are counted when they are resolved. */
export function introspectionWork(args: ExecutionArgs): number {
  const { body = '' } = args.document.loc?.source ?? {}
  return isIntrospecting.test(body) ? (billOf(args)?.introspected() ?? 0) * introspectionCost : 0
}

const isIntrospecting = /__(schema|type)\b/

interface Bill {
  readonly cost: number
  /** How many fields of introspection it lists. */
  introspected(): number
  /** The path of the field with the greatest part of the cost, by the names in the answer: `a.nodes.proof`. */
  dearestField(): string
}

function billOf(args: ExecutionArgs): Bill | undefined {
  const { schema, document, contextValue } = args
  const operation = getOperationAST(document, args.operationName)
  // What names no operation, or has variables that do not fit, is refused by execution in its own words.
  if (!operation) return undefined
  const definitions = operation.variableDefinitions ?? []
  const variables = getVariableValues(schema, definitions, args.variableValues ?? {}).coerced
  if (variables === undefined) return undefined
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition)
    }
  }
  const bill = sumUp(operation, { schema, fragments, variables, context: contextValue })
  return { ...bill, cost: Math.ceil(operationCostBase + bill.cost) }
}

/** Refuses by HTTP what costs too much; sockets and streams ask `costRefusal` when they read an operation. */
export const costLimit: Plugin<object, GatewayContext> = {
  onExecute({ args, setResultAndStopExecution }) {
    if (!('request' in args.contextValue)) return
    const refusal = costRefusal(args)
    if (refusal !== undefined) setResultAndStopExecution({ errors: [refusedByHttp(refusal)] })
  },
}

/** As the server marks what it refuses to validate: 400, for clients that know GraphQL's own media type. */
export function refusedByHttp({ message, extensions }: GraphQLError): GraphQLError {
  const http = { spec: true, status: 400 }
  return new GraphQLError(message, { extensions: { ...extensions, http } })
}

interface CostDeps {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly context: unknown
}

/** Sums up an operation; what is selected in many places is summed up once for each type that it is asked of. */
function sumUp(operation: OperationDefinitionNode, deps: CostDeps): Bill {
  const { schema, fragments, variables } = deps
  const limit = Math.floor(maxOperationCost / introspected)
  const introspection = createIntrospectionCount({ schema, fragments, variables, limit })
  const costs = new Map<SelectionSetNode, Map<GraphQLNamedType, number>>()
  let listedFields = 0

  function ofSelection(set: SelectionSetNode, type: GraphQLNamedType): number {
    const known = costs.get(set)?.get(type)
    if (known !== undefined) return known
    // A value is of one of the types, and the dearest counts.
    const cost = isAbstractType(type)
      ? Math.max(...schema.getPossibleTypes(type).map((one) => ofSelection(set, one)))
      : isObjectType(type)
        ? ofObject(set, type)
        : 0
    const ofSet = costs.get(set) ?? new Map<GraphQLNamedType, number>()
    costs.set(set, ofSet.set(type, cost))
    return cost
  }

  function ofObject(set: SelectionSetNode, type: GraphQLObjectType): number {
    let cost = 0
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) cost += ofField(selection, type)
      else cost += ofFragment(selection, type)
    }
    return cost
  }

  function ofFragment(spread: Spread, type: GraphQLObjectType): number {
    const set = selectionOf(spread, type)
    return set === undefined ? 0 : ofSelection(set, type)
  }

  /** What a fragment selects of a type; `undefined` where it is not of that type. */
  function selectionOf(spread: Spread, type: GraphQLObjectType): SelectionSetNode | undefined {
    const fragment =
      spread.kind === Kind.INLINE_FRAGMENT ? spread : fragments.get(spread.name.value)
    const condition = fragment?.typeCondition?.name.value ?? type.name
    return fragment && isOfType(schema, type, condition) ? fragment.selectionSet : undefined
  }

  function ofField(node: FieldNode, type: GraphQLObjectType): number {
    const name = node.name.value
    const written = writtenCost * (1 + nameLength(node))
    const meta = type === schema.getQueryType() ? metaFields.get(name) : undefined
    if (meta !== undefined) {
      const listed = 1 + introspection.below(meta, node, undefined)
      listedFields += listed
      return listed * introspected + written
    }
    const field = type.getFields()[name]
    // `__typename`, which every type has.
    if (field === undefined) return written
    const { field: own, multiplier } = priceOf(field, node, deps)
    const below = node.selectionSet && ofSelection(node.selectionSet, getNamedType(field.type))
    return own + written + multiplier * (below ?? 0)
  }

  const { selectionSet } = operation
  const root = present(schema.getRootType(operation.operation), 'the root')
  const sums = { deps, ofSelection, ofField, selectionOf }
  return {
    cost: ofSelection(selectionSet, root),
    introspected: () => listedFields,
    dearestField: () => dearestBelow(sums, selectionSet, root).join('.'),
  }
}

/** What the parts of an operation cost. */
interface Sums {
  readonly deps: CostDeps
  ofSelection(set: SelectionSetNode, type: GraphQLNamedType): number
  ofField(node: FieldNode, type: GraphQLObjectType): number
  selectionOf(spread: Spread, type: GraphQLObjectType): SelectionSetNode | undefined
}

/** Follows the dearest field of each level, down to one that costs more itself than what is below it. */
function dearestBelow(sums: Sums, set: SelectionSetNode, type: GraphQLNamedType): string[] {
  const { deps, ofSelection } = sums
  const types = isAbstractType(type) ? deps.schema.getPossibleTypes(type) : [type]
  const fields = types.filter(isObjectType).flatMap((one) => fieldsOf(sums, set, one))
  const [dearest] = fields.toSorted((a, b) => b.cost - a.cost)
  if (dearest === undefined) return []
  const { node, of, cost } = dearest
  const name = (node.alias ?? node.name).value
  const field = of.getFields()[node.name.value]
  if (field === undefined || node.selectionSet === undefined) return [name]
  const inner = getNamedType(field.type)
  const { multiplier } = priceOf(field, node, deps)
  const below = multiplier * ofSelection(node.selectionSet, inner)
  return 2 * below > cost ? [name, ...dearestBelow(sums, node.selectionSet, inner)] : [name]
}

/** Each set once: fragments that spread others twice would be as many fields as 2 to the number of fragments. */
function fieldsOf(
  sums: Sums,
  set: SelectionSetNode,
  of: GraphQLObjectType,
  seen: Set<SelectionSetNode> = new Set(),
): PricedField[] {
  if (seen.has(set)) return []
  seen.add(set)
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) {
      return [{ node: selection, of, cost: sums.ofField(selection, of) }]
    }
    const inner = sums.selectionOf(selection, of)
    return inner === undefined ? [] : fieldsOf(sums, inner, of, seen)
  })
}

type Spread = FragmentSpreadNode | InlineFragmentNode

interface PricedField {
  readonly node: FieldNode
  readonly of: GraphQLObjectType
  readonly cost: number
}

/** What is counted whenever a field is resolved, beside what it reads and writes. */
export function workOf(field: Declaring): number {
  const declared = declaredPrice(field)
  return typeof declared === 'object' ? (declared.work ?? 0) : 0
}

function priceOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variables, context }: CostDeps,
): Price {
  const declared = declaredPrice(field)
  if (typeof declared !== 'function') return declared ?? free
  return declared(getArgumentValues(field, node, variables), context)
}

/** What a field declares with the option `complexity`; `undefined` where it declares nothing. */
export function declaredPrice({ extensions }: Declaring): Declared {
  // The plugin puts a price of its own where none is declared.
  const options = extensions.pothosOptions as { readonly complexity?: Declared } | undefined
  return options?.complexity
}

type Declaring = Pick<GraphQLField<unknown, unknown>, 'extensions'>

type Declared = Price | ((args: object, context: unknown) => Price) | undefined

const introspected = fieldCost.introspection.field

/** How often its length goes into the name of a field. */
function nameLength({ alias, name }: FieldNode): number {
  return Math.floor((alias ?? name).value.length / nameCharacters)
}

const metaFields = new Map(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]),
)
