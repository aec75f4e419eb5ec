import {
  defaultFieldResolver,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { isTurnOver, nextTurn } from '../../../lib/turns.ts'
import type { GatewayContext } from '../builder.ts'
import type { Budget } from './budget.ts'
import { workOf } from './cost.ts'

/**
 * Counts the fields and bytes of a response while it is built. An operation whose response becomes too large, or whose client has
 * disconnected, ends before it uses much memory. The count is never below the size that would be sent. Introspection fields are
 * counted before they are resolved (`cost.ts`).
 */

/** Returns the resolver that the type declares for a field, without the counting wrapper. */
export function resolverOf(field: GraphQLField<unknown, GatewayContext>): Resolver {
  return uncounted.get(field) ?? field.resolve ?? defaultFieldResolver
}

const uncounted = new WeakMap<GraphQLField<unknown, GatewayContext>, Resolver>()

/** Wraps every resolver of a schema so that it counts fields and bytes. */
export function meterFields(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap())
  const maxTypeName = Math.max(...types.map(({ name }) => name.length))
  for (const type of types) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    const isEvent = type === schema.getSubscriptionType()
    for (const field of Object.values(type.getFields())) {
      if (type === schema.getQueryType()) field.resolve = inTurn(resolverOf(field))
      uncounted.set(field, resolverOf(field))
      const resolve = metered(field, maxTypeName)
      field.resolve = isEvent ? renewing(resolve) : resolve
    }
  }
}

type Resolver = GraphQLFieldResolver<unknown, GatewayContext>

/** Yields before a root field when the turn is used up: an operation may have hundreds of them, and each reads when it is resolved. */
function inTurn(resolve: Resolver): Resolver {
  return (source, args, context, info) =>
    isTurnOver()
      ? nextTurn(context.share.client).then(() => resolve(source, args, context, info))
      : resolve(source, args, context, info)
}

function metered(field: GraphQLField<unknown, GatewayContext>, maxTypeName: number): Resolver {
  const { type, resolve = defaultFieldResolver } = field
  const measure = measureOf(type, maxTypeName)
  const work = workOf(field)
  const convert = isListOfObjects(type) ? inTurnsOf : unchanged
  return (source, args, context, info) => {
    const { budget } = context
    // Before the work, so that an operation that has to end does no more of it.
    if (work > 0) budget.compute(work)
    else budget.check()
    let value: unknown
    try {
      value = resolve(source, args, context, info)
    } catch (failure) {
      budget.spend(errorBytes)
      throw failure
    }
    const take = (there: unknown) => {
      budget.spend(bytesOf(there, info))
      return convert(there, context)
    }
    return isPromise(value) ? whenThere(value, budget, take) : take(value)
  }

  function bytesOf(value: unknown, info: GraphQLResolveInfo): number {
    return nameBytes(info.path.key) + measure(value, info)
  }
}

/** Counts a value that is a promise. A separate function, because most fields have their value at once. */
function whenThere(
  value: Promise<unknown>,
  budget: Budget,
  take: (there: unknown) => unknown,
): Promise<unknown> {
  return value.then(take, (failure: unknown) => {
    budget.spend(errorBytes)
    throw failure
  })
}

function isListOfObjects(type: GraphQLOutputType): boolean {
  if (isNonNullType(type)) return isListOfObjects(type.ofType)
  return isListType(type) && !isLeafType(getNamedType(type))
}

const unchanged = (value: unknown) => value

/**
 * Wraps each item of a list of objects in a promise, which resolves in a turn of the client: the executor would complete all items of a
 * page, up to some hundred thousand fields, without a pause. The rest of the items rejects when the operation has ended.
 *
 * When an item fails synchronously, the executor of `graphql` (16.15) abandons the incomplete items before it. If one of those fails
 * later, its rejection has no handler, which ends the process. Promises never fail synchronously.
 */
function inTurnsOf(value: unknown, { budget, share }: GatewayContext): unknown {
  if (!Array.isArray(value)) return value
  let before = Promise.resolve()
  return value.map((item) => {
    before = before.then(() => {
      budget.check()
      return isTurnOver() ? nextTurn(share.client) : undefined
    })
    return before.then(() => item)
  })
}

/** Wraps the resolver of a subscription field: each event is a response of its own, with one root field. */
function renewing(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    context.budget.renew()
    return resolve(source, args, context, info)
  }
}

/** Bytes that are counted for an error with its message and path: its size in memory, which exceeds its size in the response. */
const errorBytes = 1_000

/** Returns the maximum number of bytes of a value in JSON. */
type Measure = (value: unknown, info: GraphQLResolveInfo) => number

function measureOf(type: GraphQLOutputType, maxTypeName: number): Measure {
  if (isNonNullType(type)) return measureOf(type.ofType, maxTypeName)
  if (isListType(type)) {
    const item = measureOf(type.ofType, maxTypeName)
    return (value, info) =>
      Array.isArray(value) ? value.reduce((sum, one) => sum + 1 + item(one, info), 2) : 4
  }
  if (isEnumType(type)) {
    const longest = Math.max(...type.getValues().map(({ name }) => name.length))
    return () => longest + 2
  }
  if (isLeafType(type)) return isDigits(type) ? writtenBytes : leafBytes
  return (value, info) => (value == null ? 4 : 2 + typeNameBytes(info, maxTypeName))
}

/** Whether the text of a scalar has only decimal or hexadecimal digits, which JSON does not escape (`scalars.ts`). */
export function isDigits(type: GraphQLLeafType): boolean {
  return type.extensions.isDigits === true
}

/** Whether a scalar with such digits is always written as text. */
export function isDigitsText(type: GraphQLLeafType): boolean {
  return isAsItIs(type) || type.extensions.isText === true
}

/** Whether the values of a scalar are already its text. */
export function isAsItIs(type: GraphQLLeafType): boolean {
  return type.extensions.isAsItIs === true
}

function leafBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value)
  if (typeof value === 'object' && value !== null) return textBytes(JSON.stringify(value))
  return writtenBytes(value)
}

function writtenBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  // Up to 64 bits in decimal digits, up to 256 bits in hexadecimal digits, with quotes.
  if (typeof value === 'bigint') return value >> 64n === 0n ? 22 : 68
  return Number.isInteger(value) ? 17 : 25
}

function textBytes(text: string): number {
  return isPlainText(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text))
}

/** Whether JSON writes each character of a text unescaped and as one byte. */
export function isPlainText(text: string): boolean {
  return plain.test(text)
}

const plain = /^[ !#-[\]-~]*$/

/** Returns the bytes of a name with its quotes, its colon, and the comma before it. */
function nameBytes(name: string | number): number {
  return typeof name === 'string' ? name.length + 4 : 0
}

/** Returns the bytes of `__typename` in an object: that field has no resolver that could count it. */
function typeNameBytes({ fieldNodes, fragments }: GraphQLResolveInfo, maxTypeName: number): number {
  let bytes = 0
  for (const { selectionSet } of fieldNodes) {
    if (selectionSet === undefined) continue
    let known = typeNameBytesBySelection.get(selectionSet)
    if (known === undefined) {
      const names = [...typeNamesIn(selectionSet, fragments)]
      known = names.reduce((sum, name) => sum + nameBytes(name) + maxTypeName + 2, 0)
      typeNameBytesBySelection.set(selectionSet, known)
    }
    bytes += known
  }
  return bytes
}

const typeNameBytesBySelection = new WeakMap<SelectionSetNode, number>()

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>

/** Returns the response names of `__typename` in a selection, on any type. */
function typeNamesIn(
  set: SelectionSetNode,
  fragments: Fragments,
  seen = new Set<SelectionSetNode>(),
): ReadonlySet<string> {
  const names = new Set<string>()
  if (seen.has(set)) return names
  seen.add(set)
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      if (selection.name.value === '__typename')
        names.add((selection.alias ?? selection.name).value)
    } else {
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      const inner = fragment && typeNamesIn(fragment.selectionSet, fragments, seen)
      for (const name of inner ?? []) names.add(name)
    }
  }
  return names
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}
