import {
  type DocumentNode,
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { present } from '../../../lib/assert.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { isTurnOver, nextTurn } from '../../../lib/turns.ts'
import type { GatewayContext } from '../builder.ts'
import {
  type Conditions,
  collectFields,
  introspectionFields,
  typeNameField,
} from './collect-fields.ts'
import { leafWriter, quotedWriter } from './compile-leaves.ts'
import { workOf } from './cost.ts'
import { type Dependence, dependenceOf, isIntrospection } from './dependence.ts'
import { type Fragments, fragmentsOf } from './fragments.ts'
import { isPromise, resolverOf } from './meter.ts'
import { abandon, completeText, emptyPendingText, type PendingText } from './pending-text.ts'

/**
 * Compiles a query into functions that write its response as JSON text, without an object for each value. A response with errors throws:
 * the executor of `graphql` then runs the query again and formats the errors. Without errors both return the same response.
 */

export interface CompiledQuery {
  /** Number of compiled fields. Each of them has functions of its own. */
  readonly size: number
  /** The parts of the log that the response depends on; `undefined` when it depends on more than the log. */
  readonly dependsOnLog: LogDependence | undefined
  /** Resolves to the JSON text of `data`. Rejects when a field fails or a non-null field is null. */
  run(context: GatewayContext, variables: Variables): Promise<string>
}

/** The lists of updates in a response. */
export interface LogDependence {
  /** Returns the arguments of each list. */
  lists(variables: Variables): readonly object[]
  /** Whether the response also depends on the tip of the log. */
  readonly isOfTip: boolean
}

/** Variables by name, coerced to the types that the operation declares. */
export type Variables = Readonly<Record<string, unknown>>

/** An operation to compile. */
export interface CompileOptions {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** Values of the variables in `@skip` and `@include`. */
  readonly conditions: Conditions
}

/** Maximum number of compiled fields: a short document can select one field in very many places. */
export const maxCompiledFields = 2_000

/** Compiles a query. Returns `undefined` when it has more than `maxCompiledFields` fields. */
export function compileQuery(options: CompileOptions): CompiledQuery | undefined {
  const { schema, operation } = options
  const plan: Plan = {
    ...options,
    fragments: fragmentsOf(options.document),
    fields: 0,
    dependences: new Set(),
    lists: [],
  }
  try {
    const root = present(schema.getQueryType(), 'the root of queries')
    const write = objectWriter(plan, root, [operation])
    return {
      size: plan.fields,
      dependsOnLog: dependsOnLog(plan),
      run: async (context, variables) =>
        await write(undefined, { context, variables, args: new Map() }),
    }
  } catch (failure) {
    if (failure === notCompiled) return undefined
    throw failure
  }
}

/** State of a compilation. */
interface Plan extends CompileOptions {
  readonly fragments: Fragments
  /** Number of fields that are compiled so far. */
  fields: number
  readonly dependences: Set<Dependence>
  /** Readers of the arguments of the lists of updates. */
  readonly lists: ReadArguments[]
}

const notCompiled = new Error('the query cannot be compiled')

function dependsOnLog({ dependences, lists }: Plan): LogDependence | undefined {
  if (dependences.has('NOW')) return undefined
  return {
    lists: (variables) => lists.map((read) => read({ variables, args: new Map() })),
    isOfTip: dependences.has('TIP'),
  }
}

interface Run {
  readonly context: GatewayContext
  readonly variables: Variables
  /** Arguments that depend on variables. They are read once, however many objects have the field. */
  readonly args: Map<FieldNode, object>
}

type ReadArguments = (run: Pick<Run, 'args' | 'variables'>) => object

/** Writes a value as JSON text. */
type Write = (value: unknown, run: Run) => string | Promise<string>

/** A field of an object: its text up to the value, and the function that writes the value. */
interface WriteField {
  readonly key: string
  readonly write: Write
  /** Whether the bytes of the field are counted with its object. Objects below a field count their own bytes. */
  readonly isLeaf: boolean
  /** Whether the value is a quoted text. The quotes are part of the keys before and after it. */
  readonly isQuoted: boolean
}

/** The fields of an object, and the text after the last field. */
interface WriteFields {
  readonly fields: readonly WriteField[]
  readonly end: string
}

type SelectionNodes = readonly Pick<FieldNode, 'selectionSet'>[]

function objectWriter(plan: Plan, type: GraphQLObjectType, nodes: SelectionNodes): Write {
  const fields: WriteField[] = []
  // Few long pieces: appending the text of a field costs as much as reading its value.
  let before = '{'
  for (const [name, same] of collectFields({ ...plan, type, nodes })) {
    if (++plan.fields > maxCompiledFields) throw notCompiled
    const field = fieldWriter(plan, type, same)
    const quote = field.isQuoted ? '"' : ''
    fields.push({ key: `${before}${JSON.stringify(name)}:${quote}`, ...field })
    before = `${quote},`
  }
  // A selection on a union may have no field for one of its types.
  if (fields.length === 0) return () => '{}'
  const object = { fields, end: fields.at(-1)?.isQuoted ? '"}' : '}' }
  return (value, run) => writeObject(object, value, run)
}

function fieldWriter(
  plan: Plan,
  parentType: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Omit<WriteField, 'key'> {
  const node = present(nodes[0], 'a field has a node')
  const { value: fieldName } = node.name
  if (fieldName === typeNameField) {
    return { write: () => parentType.name, isLeaf: true, isQuoted: true }
  }
  const field = parentType.getFields()[fieldName] ?? introspectionFields.get(fieldName)
  if (field === undefined) throw notCompiled
  const read = argumentsOf(field, node)
  const dependence = dependenceOf(parentType, field)
  plan.dependences.add(dependence)
  if (dependence === 'ADDRESS') plan.lists.push(read)
  const quoted = quotedWriter(field)
  const complete = quoted ?? completion(plan, field.type, nodes)
  const form = { isLeaf: isLeafType(namedType(field.type)), isQuoted: quoted !== undefined }
  const resolve = resolverOf(field)
  if (resolve === defaultFieldResolver) {
    return { write: (source, run) => complete(memberOf(source, fieldName), run), ...form }
  }
  const work = workOf(field)
  const info = isIntrospection(parentType, field)
    ? ({ schema: plan.schema } as GraphQLResolveInfo)
    : noInfo
  const write: Write = (source, run) => {
    if (work > 0) run.context.budget.compute(work)
    const value = resolve(source, read(run), run.context, info)
    return isPromise(value)
      ? value.then((there) => completeInTurn(complete, there, run))
      : complete(value, run)
  }
  return { write, ...form }
}

/** Yields when the turn is used up: a promise that many fields share resolves for all of them in one turn of the event loop. */
function completeInTurn(complete: Write, value: unknown, run: Run): string | Promise<string> {
  if (!isTurnOver()) return complete(value, run)
  return nextTurn(run.context.share.client).then(() => complete(value, run))
}

/** Throws when a resolver reads the info of a field. The executor, which has the info, then runs the query. */
const noInfo: GraphQLResolveInfo = new Proxy(Object.create(null), {
  get: (_target, member) => {
    throw new TypeError(`a compiled query has no info: ${String(member)}`)
  },
})

function completion(plan: Plan, type: GraphQLOutputType, nodes: readonly FieldNode[]): Write {
  if (isNonNullType(type)) return notNull(nullable(plan, type.ofType, nodes))
  const write = nullable(plan, type, nodes)
  return (value, run) => (value == null ? 'null' : write(value, run))
}

/** Returns a function that writes non-null values of a type. */
function nullable(
  plan: Plan,
  type: Exclude<GraphQLOutputType, GraphQLNonNull<never>>,
  nodes: readonly FieldNode[],
): Write {
  if (isListType(type)) {
    const item = completion(plan, type.ofType, nodes)
    return (value, run) => writeList(item, value, run)
  }
  if (isLeafType(type)) return leafWriter(type)
  const write = isObjectType(type)
    ? objectWriter(plan, type, nodes)
    : abstractWriter(plan, type, nodes)
  return (value, run) => {
    if (value instanceof Error) throw value
    return write(value, run)
  }
}

function abstractWriter(plan: Plan, type: GraphQLAbstractType, nodes: readonly FieldNode[]): Write {
  const writers = new Map<string, Write>()
  for (const one of plan.schema.getPossibleTypes(type)) {
    writers.set(one.name, objectWriter(plan, one, nodes))
  }
  const typeOf = type.resolveType ?? defaultTypeResolver
  return (value, run) => {
    const name = typeOf(value, run.context, noInfo, type)
    const write = typeof name === 'string' ? writers.get(name) : undefined
    if (write === undefined) throw new TypeError(`${type.name}: the type of a value is unknown`)
    return write(value, run)
  }
}

/** Reads a member as the default resolver does. Throws for functions and promises, so that the executor runs the query. */
function memberOf(source: unknown, name: string): unknown {
  const value = (source as Readonly<Record<string, unknown>>)[name]
  if (typeof value === 'function' || isPromise(value)) {
    throw new TypeError(`${name}: a function or a promise instead of a value`)
  }
  return value
}

function namedType(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) || isListType(type) ? namedType(type.ofType) : type
}

/** Returns a function that reads the arguments of a field: literals are read once, arguments with variables once per run. */
function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): ReadArguments {
  let hasVariables = false
  visit(node, {
    // Arguments of the fields below belong to those fields.
    SelectionSet: () => false,
    Variable: () => {
      hasVariables = true
    },
  })
  if (!hasVariables) {
    const constant = getArgumentValues(field, node)
    return () => constant
  }
  return ({ args, variables }) =>
    getOrInsert(args, node, () => getArgumentValues(field, node, variables))
}

function notNull(write: Write): Write {
  return (value, run) => {
    if (value == null) throw new TypeError('null in a non-null field')
    return write(value, run)
  }
}

/** Writes the members in the order of the selection. Values that are promises are awaited concurrently. */
function writeObject(
  { fields, end }: WriteFields,
  source: unknown,
  run: Run,
): string | Promise<string> {
  const { budget } = run.context
  budget.check()
  let text = ''
  let bytes = end.length
  let pending: PendingText | undefined
  try {
    for (const { key, write, isLeaf } of fields) {
      const part = write(source, run)
      bytes += key.length
      if (typeof part === 'string') {
        if (isLeaf) bytes += part.length
        text += key + part
        continue
      }
      pending ??= emptyPendingText()
      pending.texts.push(text + key)
      pending.parts.push(isLeaf ? part.then((resolved) => counted(resolved, run)) : part)
      text = ''
    }
    budget.spend(bytes, fields.length)
  } catch (failure) {
    abandon(pending)
    throw failure
  }
  return pending === undefined ? text + end : completeText(pending, text + end)
}

/** Counts the bytes of a leaf, or of a list of leaves, that was written asynchronously. */
function counted(text: string, { context }: Run): string {
  context.budget.spend(text.length, 0)
  return text
}

function writeList(write: Write, value: unknown, run: Run): string | Promise<string> {
  if (!Array.isArray(value)) throw new TypeError('the value of a list is not an array')
  run.context.budget.spend(value.length + 1, 0)
  return writeItems(write, { items: value, from: 0 }, run)
}

/** Writes the items of a list from an index on. Writes the rest in a later turn of the event loop when this turn is used up. */
function writeItems(
  write: Write,
  { items, from }: { readonly items: readonly unknown[]; readonly from: number },
  run: Run,
): string | Promise<string> {
  let text = from === 0 ? '[' : ''
  let pending: PendingText | undefined
  try {
    for (let i = from; i < items.length; i++) {
      if (i > from && i % itemsPerClockCheck === 0 && isTurnOver()) {
        pending ??= emptyPendingText()
        pending.texts.push(text)
        const rest = { items, from: i }
        pending.parts.push(
          nextTurn(run.context.share.client).then(() => writeItems(write, rest, run)),
        )
        return completeText(pending, '')
      }
      const part = write(items[i], run)
      if (i > 0) text += ','
      if (typeof part === 'string') {
        text += part
        continue
      }
      pending ??= emptyPendingText()
      pending.texts.push(text)
      pending.parts.push(part)
      text = ''
    }
  } catch (failure) {
    abandon(pending)
    throw failure
  }
  return pending === undefined ? `${text}]` : completeText(pending, `${text}]`)
}

/** Number of items that are written between two checks of the clock. */
const itemsPerClockCheck = 16
