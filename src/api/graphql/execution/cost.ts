import {
  type ExecutionArgs,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { present } from '../../../lib/assert.ts'
import { toGraphQL } from '../../errors/errors.ts'
import type { GatewayContext } from '../builder.ts'
import { introspectionFields, isOfType } from './collect-fields.ts'
import { argumentsOf } from './field-arguments.ts'
import { type Fragments, fragmentAt, fragmentsOf, type Spread } from './fragments.ts'
import { createIntrospectionCount } from './introspection-cost.ts'
import {
  errorCost,
  fieldCost,
  free,
  introspectionCost,
  maxOperationCost,
  operationCostBase,
  type Price,
  pageWork,
  writtenCost,
} from './prices.ts'
import { coerceVariables } from './variables.ts'

/**
 * Estimates the cost of an operation, assuming that every page is full, in the units of `prices.ts`. A field that reads, computes or may
 * be long declares its price where it is defined. Nested pages and many pages side by side are refused before anything is read. A list
 * within a block or an output is priced as one item: they all fit into 32 KiB, and `budget.ts` counts their actual fields.
 */

/** Characters of a field name that are priced as one written field: the name is written with every value. */
const nameCharacters = 64

/** Returns the error for an operation that costs too much; `undefined` for an operation that may run. */
export function costRefusal(args: ExecutionArgs): GraphQLError | undefined {
  const bill = billOf(args)
  const { observation }: Partial<GatewayContext> = Object(args.contextValue)
  if (observation !== undefined) observation.cost = bill?.cost
  if (bill === undefined || bill.cost <= maxOperationCost) return undefined
  const { cost } = bill
  const field = bill.costliestField()
  return toGraphQL({ code: 'OPERATION_TOO_COSTLY', cost, limit: maxOperationCost, field })
}

/** Returns the maximum cost of an operation; `undefined` when the operation cannot be executed. */
export function operationCost(args: ExecutionArgs): number | undefined {
  return billOf(args)?.cost
}

/** Returns the work of the executor for introspection fields, in units. Other fields are counted when they are resolved. */
export function introspectionWork(args: ExecutionArgs): number {
  const { body = '' } = args.document.loc?.source ?? {}
  return isIntrospecting.test(body) ? (billOf(args)?.introspected() ?? 0) * introspectionCost : 0
}

const isIntrospecting = /__(schema|type)\b/

interface Bill {
  readonly cost: number
  /** Returns the number of introspection fields in the response. */
  introspected(): number
  /** Returns the path of the most expensive field by response names, such as `a.nodes.proof`. */
  costliestField(): string
}

function billOf(args: ExecutionArgs): Bill | undefined {
  const { schema, document, contextValue } = args
  const operation = getOperationAST(document, args.operationName)
  // The executor refuses requests that name no operation or have invalid variables.
  if (!operation) return undefined
  const variables = coerceVariables(schema, operation, args.variableValues).coerced
  if (variables === undefined) return undefined
  const fragments = fragmentsOf(document)
  const bill = sumUp(operation, { schema, fragments, variables, context: contextValue })
  return { ...bill, cost: Math.ceil(operationCostBase + bill.cost) }
}

/** Refuses HTTP requests that cost too much. WebSocket and event stream transports call `costRefusal` when they read an operation. */
export const costLimit: Plugin<object, GatewayContext> = {
  onExecute({ args, setResultAndStopExecution }) {
    if (!('request' in args.contextValue)) return
    const refusal = costRefusal(args)
    if (refusal !== undefined) setResultAndStopExecution({ errors: [refusedByHttp(refusal)] })
  },
}

/** Adds status 400 to an error, as the server does for validation errors: clients that accept GraphQL's own media type get it. */
export function refusedByHttp({ message, extensions }: GraphQLError): GraphQLError {
  const http = { spec: true, status: 400 }
  return new GraphQLError(message, { extensions: { ...extensions, http } })
}

interface CostDeps {
  readonly schema: GraphQLSchema
  readonly fragments: Fragments
  /** Coerced variables by name. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly context: unknown
}

function sumUp(operation: OperationDefinitionNode, deps: CostDeps): Bill {
  const { selectionSet } = operation
  const root = present(deps.schema.getRootType(operation.operation), 'the root')
  const pricing = createPricing(deps)
  return {
    cost: pricing.ofSelection(selectionSet, root),
    introspected: () => pricing.listedFields(),
    costliestField: () => costliestBelow(pricing, selectionSet, root).join('.'),
  }
}

/** Creates the functions for one operation. A selection set that is used in many places is priced once for each type. */
function createPricing(deps: CostDeps): Pricing {
  const { schema, fragments, variables } = deps
  const limit = Math.floor(maxOperationCost / introspected)
  const introspection = createIntrospectionCount({ schema, fragments, variables, limit })
  const costs = new Map<SelectionSetNode, Map<GraphQLNamedType, number>>()
  let listedFields = 0

  function ofSelection(set: SelectionSetNode, type: GraphQLNamedType): number {
    const known = costs.get(set)?.get(type)
    if (known !== undefined) return known
    // A value has one of the possible types; the most expensive type is the maximum.
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
      if (hasNullCondition(selection, variables)) cost += errorCost
      else if (selection.kind === Kind.FIELD) cost += ofField(selection, type)
      else cost += ofFragment(selection, type)
    }
    return cost
  }

  function ofFragment(spread: Spread, type: GraphQLObjectType): number {
    const set = selectionOf(deps, spread, type)
    return set === undefined ? 0 : ofSelection(set, type)
  }

  function ofField(node: FieldNode, type: GraphQLObjectType): number {
    const name = node.name.value
    const written = writtenCost * (1 + nameLength(node))
    const meta = type === schema.getQueryType() ? introspectionFields.get(name) : undefined
    if (meta !== undefined) {
      const listed = 1 + introspection.belowRoot(meta, node)
      listedFields += listed
      return listed * introspected + written
    }
    const field = type.getFields()[name]
    // Only `__typename` is not among the fields of its type.
    if (field === undefined) return written
    const { field: own, multiplier } = priceOf(field, node, deps)
    const below = node.selectionSet && ofSelection(node.selectionSet, getNamedType(field.type))
    return own + written + multiplier * (below ?? 0)
  }

  return { deps, ofSelection, ofField, listedFields: () => listedFields }
}

/** Whether a condition of a selection is a variable that is null: the executor returns an error instead of the object around it. */
function hasNullCondition(
  { directives = [] }: SelectionNode,
  variables: CostDeps['variables'],
): boolean {
  return directives.some(({ arguments: args = [] }) =>
    args.some(({ value }) => value.kind === Kind.VARIABLE && variables[value.name.value] === null),
  )
}

/** Returns the selection set of a fragment; `undefined` when the fragment does not apply to the type. */
function selectionOf(
  { schema, fragments }: CostDeps,
  spread: Spread,
  type: GraphQLObjectType,
): SelectionSetNode | undefined {
  const fragment = fragmentAt(spread, fragments)
  const condition = fragment?.typeCondition?.name.value ?? type.name
  return fragment && isOfType(schema, type, condition) ? fragment.selectionSet : undefined
}

/** Functions that price the parts of an operation. */
interface Pricing {
  readonly deps: CostDeps
  ofSelection(set: SelectionSetNode, type: GraphQLNamedType): number
  ofField(node: FieldNode, type: GraphQLObjectType): number
  /** Returns the number of introspection fields that are priced so far. */
  listedFields(): number
}

/** Follows the most expensive field of each level, down to a field that costs more than its selection. */
function costliestBelow(pricing: Pricing, set: SelectionSetNode, type: GraphQLNamedType): string[] {
  const { deps, ofSelection } = pricing
  const types = isAbstractType(type) ? deps.schema.getPossibleTypes(type) : [type]
  const fields = types.filter(isObjectType).flatMap((one) => fieldsOf(pricing, set, one))
  const [costliest] = fields.toSorted((a, b) => b.cost - a.cost)
  if (costliest === undefined) return []
  const { node, of, cost } = costliest
  const name = (node.alias ?? node.name).value
  const field = of.getFields()[node.name.value]
  if (field === undefined || node.selectionSet === undefined) return [name]
  const inner = getNamedType(field.type)
  const { multiplier } = priceOf(field, node, deps)
  const below = multiplier * ofSelection(node.selectionSet, inner)
  return 2 * below > cost ? [name, ...costliestBelow(pricing, node.selectionSet, inner)] : [name]
}

/** Visits each selection set once: n fragments that spread each other twice would yield 2^n fields. */
function fieldsOf(
  pricing: Pricing,
  set: SelectionSetNode,
  of: GraphQLObjectType,
  seen: Set<SelectionSetNode> = new Set(),
): PricedField[] {
  if (seen.has(set)) return []
  seen.add(set)
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) {
      return [{ node: selection, of, cost: pricing.ofField(selection, of) }]
    }
    const inner = selectionOf(pricing.deps, selection, of)
    return inner === undefined ? [] : fieldsOf(pricing, inner, of, seen)
  })
}

interface PricedField {
  readonly node: FieldNode
  readonly of: GraphQLObjectType
  readonly cost: number
}

/** Returns the work that is counted whenever a field is resolved, in addition to its reads and bytes. */
export function workOf(field: Declaring): number {
  const declared = declaredPrice(field)
  if (typeof declared === 'function') return pageWork
  return declared?.work ?? 0
}

function priceOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variables, context }: CostDeps,
): Price {
  const declared = declaredPrice(field)
  if (typeof declared !== 'function') return declared ?? free
  const args = argumentsOf(field, node, variables)
  return args === undefined ? failing : declared(args, context)
}

/** Price of a field that fails: nothing below it is read. */
const failing: Price = { field: errorCost, multiplier: 0 }

/** Returns the price that a field declares with the option `complexity`; `undefined` when it declares none. */
export function declaredPrice({ extensions }: Declaring): Declared {
  // The plugin adds a default price to fields that declare none, so the option is read.
  const options = extensions.pothosOptions as { readonly complexity?: Declared } | undefined
  return options?.complexity
}

type Declaring = Pick<GraphQLField<unknown, unknown>, 'extensions'>

type Declared = Price | ((args: object, context: unknown) => Price) | undefined

const introspected = fieldCost.introspection.field

/** Returns the extra price units of a long field name. */
function nameLength({ alias, name }: FieldNode): number {
  return Math.floor((alias ?? name).value.length / nameCharacters)
}
