import {
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
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
import { defaultListSize } from '../../service/lists/keyset-page.ts'
import { defaultPageSize, maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { toGraphQL } from '../errors.ts'
import type { GatewayContext } from './builder.ts'
import { isOfType } from './collect-fields.ts'
import { createIntrospectionCount } from './introspection-cost.ts'

/**
 * What an operation may cost: the fields of its answer if every page is full, and for each item of a page ten more, for it
 * must be read. A field that computes, or that may be long, says its own price where it is defined. Pages within pages, and
 * many of them side by side, are refused before anything is read. Lists within a block or an output count as one item:
 * 32 KiB have all of them, and `budget.ts` counts what they really give.
 */

/** Twenty pages of 1,000 updates with all of their own fields: about a second. So one is 2 µs, or 32 bytes of answer. */
export const maxOperationCost = 500_000

/** A page, or a field that holds one, counts as many items as are asked for. */
export function pageCost({ first, last }: PageArgs): Price {
  const asked = Math.min(first ?? last ?? defaultPageSize, last ?? maximumPageSize, maximumPageSize)
  return itemsCost(Math.max(1, asked))
}

/** The same of lists whose page has 20 items where none are asked for. */
export function listCost(args: PageArgs): Price {
  return pageCost(args.first == null && args.last == null ? { first: defaultListSize } : args)
}

/** Blocks are read and decoded for each transaction. */
export function transactionsCost(args: PageArgs): Price {
  const { field, multiplier } = listCost(args)
  return { field: 5 * field, multiplier }
}

/** Items that are read, each by itself. */
export function itemsCost(items: number): Price {
  return { field: items * itemCost, multiplier: items }
}

const itemCost = 10

interface PageArgs {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}

/** The price of a field, and how often it holds what is selected below it. */
export interface Price {
  readonly field: number
  readonly multiplier: number
}

/** The outputs that a transaction spends or creates: at most 128 of each. */
export const outputsCost = itemsCost(128)

/** The prices of fields that are no page and dearer than one. */
export const fieldCost = {
  /** Bytes of an output, or other text that is mostly some hundred bytes long; the longest are counted when they come. */
  bytes: 10,
  /** A serialized block as text, 65 KB. */
  blockBytes: 2_048,
  /** Up to 1,000 texts of 256 characters. */
  accessNodes: 100,
  /** Decoding a block. */
  block: 500,
  /** Decoding, hashing and checking signatures of a block or transaction in an argument. */
  judgement: 2_500,
  /** A transaction is decoded and hashed with all its outputs, for one of them or for all. */
  proof: 250,
  /** Blocks or transactions of a slot are counted in an index, some thousand of them. */
  count: 100,
  /** Up to 10,000 outputs are read and decoded. */
  mana: 25_000,
  /** A field of introspection. All of them are resolved in one go, while everything else waits. */
  introspection: 15,
} as const

/** A longer name of a field counts as often as this goes into it: it is written with every value. */
const nameCharacters = 32

/** Why an operation is refused for what it asks for; `undefined` where it is not. */
export function costRefusal(args: ExecutionArgs): GraphQLError | undefined {
  const cost = operationCost(args)
  if (cost === undefined || cost <= maxOperationCost) return undefined
  return toGraphQL({ code: 'OPERATION_TOO_COSTLY', cost, limit: maxOperationCost })
}

/** What an operation costs at most; `undefined` where it cannot be executed. */
export function operationCost(args: ExecutionArgs): number | undefined {
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
  return costOf(operation, { schema, fragments, variables, context: contextValue })
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
function costOf(operation: OperationDefinitionNode, deps: CostDeps): number {
  const { schema, fragments, variables } = deps
  const limit = Math.floor(maxOperationCost / fieldCost.introspection)
  const introspection = createIntrospectionCount({ schema, fragments, variables, limit })
  const costs = new Map<SelectionSetNode, Map<GraphQLNamedType, number>>()

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
      if (selection.kind === Kind.FIELD) {
        cost += ofField(selection, type)
      } else {
        const fragment =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)
        const condition = fragment?.typeCondition?.name.value ?? type.name
        if (fragment !== undefined && isOfType(schema, type, condition)) {
          cost += ofSelection(fragment.selectionSet, type)
        }
      }
    }
    return cost
  }

  function ofField(node: FieldNode, type: GraphQLObjectType): number {
    const name = node.name.value
    const ofName = Math.floor((node.alias ?? node.name).value.length / nameCharacters)
    const meta = type === schema.getQueryType() ? metaFields.get(name) : undefined
    if (meta !== undefined) {
      return (1 + introspection.below(meta, node, undefined)) * fieldCost.introspection + ofName
    }
    const field = type.getFields()[name]
    // `__typename`, which every type has.
    if (field === undefined) return 1 + ofName
    const { field: own, multiplier } = priceOf(field, node, deps)
    const below = node.selectionSet && ofSelection(node.selectionSet, getNamedType(field.type))
    return own + ofName + multiplier * (below ?? 0)
  }

  return ofSelection(
    operation.selectionSet,
    present(schema.getRootType(operation.operation), 'the root'),
  )
}

function priceOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variables, context }: CostDeps,
): Price {
  const declared: Declared = field.extensions.complexity as Declared
  const isComputed = typeof declared === 'function'
  const price = isComputed ? declared(getArgumentValues(field, node, variables), context) : declared
  if (typeof price === 'number') return { field: price, multiplier: 1 }
  return { field: price?.field ?? 1, multiplier: price?.multiplier ?? 1 }
}

/** What fields declare with the option `complexity`. */
type Declared =
  | number
  | Partial<Price>
  | ((args: object, context: unknown) => number | Partial<Price>)
  | undefined

const metaFields = new Map(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]),
)
