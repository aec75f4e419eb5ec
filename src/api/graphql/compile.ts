import {
  type DocumentNode,
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { present } from '../../lib/assert.ts'
import type { GatewayContext } from './builder.ts'
import { type Conditions, collectFields, typeNameField } from './collect-fields.ts'
import { workOf } from './cost.ts'
import { type Dependence, dependenceOf } from './dependence.ts'
import { isAsItIs, isDigits, isDigitsText, isPlainText, isPromise, resolverOf } from './meter.ts'

/**
 * Compiles a query into functions that write its answer as JSON text, without an object for each value. It has no rules for
 * errors: whatever does not give a whole answer throws, and the executor of `graphql` runs the query again and reports
 * it. So the two agree on every answer without errors, and there is one that words errors.
 */

/** A compiled query. */
export interface CompiledQuery {
  /** How many fields it has, each with functions of its own. */
  readonly size: number
  /** What of the log alone the answer depends on; `undefined` where it depends on more. */
  readonly dependsOnLog: LogDependence | undefined
  /** The JSON text of `data`. Rejects where a field fails, or is null against its type. */
  run(context: GatewayContext, variables: Variables): Promise<string>
}

/** The lists of updates that an answer shows. */
export interface LogDependence {
  /** The arguments of each list. */
  lists(variables: Variables): readonly object[]
  readonly isOfTip: boolean
}

/** Coerced by the types of the operation. */
export type Variables = Readonly<Record<string, unknown>>

/** What is compiled. */
export interface CompileOptions {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** The values of the variables in `@skip` and `@include`. */
  readonly conditions: Conditions
}

/** How many fields are compiled at most: a document can select one field in very many places with few words. */
export const maxCompiledFields = 2_000

/** The query; `undefined` where it introspects the schema or has too many fields. */
export function compileQuery(options: CompileOptions): CompiledQuery | undefined {
  const { schema, operation } = options
  const plan: Plan = {
    ...options,
    fragments: fragmentsOf(options),
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

/** What is known of the query while it is compiled. */
interface Plan extends CompileOptions {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** How many fields are compiled so far. */
  fields: number
  readonly dependences: Set<Dependence>
  /** The arguments of the lists of updates. */
  readonly lists: ReadArguments[]
}

const notCompiled = new Error('the query is not one that is compiled')

function fragmentsOf({ document }: CompileOptions): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const one of document.definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)
  }
  return fragments
}

function dependsOnLog({ dependences, lists }: Plan): LogDependence | undefined {
  if (dependences.has('NOW')) return undefined
  return {
    lists: (variables) => lists.map((read) => read({ variables, args: new Map() })),
    isOfTip: dependences.has('TIP'),
  }
}

/** One execution. */
interface Run {
  readonly context: GatewayContext
  readonly variables: Variables
  /** Arguments that depend on variables, read once however many objects have the field. */
  readonly args: Map<FieldNode, object>
}

type ReadArguments = (run: Pick<Run, 'args' | 'variables'>) => object

/** Writes a value as JSON text. */
type Write = (value: unknown, run: Run) => string | Promise<string>

/** A field of an object: its text up to the value, and what writes the value. */
interface WriteField {
  readonly key: string
  readonly write: Write
  /** Whether it is counted with its object, and not by objects of its own. */
  readonly isLeaf: boolean
  /** Whether what it writes is between quotes, which are those of the keys before and behind it. */
  readonly isQuoted: boolean
}

/** The fields of an object, and the text behind the last. */
interface WriteFields {
  readonly fields: readonly WriteField[]
  readonly end: string
}

type SelectionNodes = readonly Pick<FieldNode, 'selectionSet'>[]

function objectWriter(plan: Plan, type: GraphQLObjectType, nodes: SelectionNodes): Write {
  const fields: WriteField[] = []
  // Few long pieces: to join the text of a field costs as much as to read its value.
  let before = '{'
  for (const [name, same] of collectFields({ ...plan, type, nodes })) {
    if (++plan.fields > maxCompiledFields) throw notCompiled
    const field = fieldWriter(plan, type, same)
    const quote = field.isQuoted ? '"' : ''
    fields.push({ key: `${before}${JSON.stringify(name)}:${quote}`, ...field })
    before = `${quote},`
  }
  // A type of a union may have none of the fields.
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
  const field = parentType.getFields()[fieldName]
  // `__schema` and `__type`.
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
  const write: Write = (source, run) => {
    if (work > 0) run.context.budget.compute(work)
    const value = resolve(source, read(run), run.context, noInfo)
    return isPromise(value) ? value.then((there) => complete(there, run)) : complete(value, run)
  }
  return { write, ...form }
}

/** Writes the text of a field without its quotes, where that is never null and JSON writes each character of it as it is. */
function quotedWriter({ type, extensions }: GraphQLField<unknown, unknown>): Write | undefined {
  if (!isNonNullType(type) || !isLeafType(type.ofType)) return undefined
  const leaf = type.ofType
  if (isAsItIs(leaf) || extensions.isPlain === true) {
    return (value) => (typeof value === 'string' ? value : textOf(leaf, value))
  }
  return isEnumType(leaf) || isDigitsText(leaf) ? (value) => textOf(leaf, value) : undefined
}

function textOf(type: GraphQLLeafType, value: unknown): string {
  const serialized = value == null ? undefined : type.serialize(value)
  if (typeof serialized === 'string') return serialized
  throw new TypeError(`${type.name}: no text in a field that always has one`)
}

/** A resolver that reads the info of a field throws here, and the executor, which has it, answers. */
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

/** Writes what is not null. */
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
    if (write === undefined) throw new TypeError(`${type.name}: no type for a value`)
    return write(value, run)
  }
}

/** As the default resolver gives it; functions and promises among them are for the executor. */
function memberOf(source: unknown, name: string): unknown {
  const value = (source as Readonly<Record<string, unknown>>)[name]
  if (typeof value === 'function' || isPromise(value)) {
    throw new TypeError(`${name}: a function or a promise in place of a value`)
  }
  return value
}

function namedType(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) || isListType(type) ? namedType(type.ofType) : type
}

/** Read once where they are literals, and once a run where they hold variables. */
function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): ReadArguments {
  let hasVariables = false
  visit(node, {
    // The arguments of fields below are their own.
    SelectionSet: () => false,
    Variable: () => {
      hasVariables = true
    },
  })
  if (!hasVariables) {
    const constant = getArgumentValues(field, node)
    return () => constant
  }
  return ({ args, variables }) => {
    const known = args.get(node)
    if (known !== undefined) return known
    const read = getArgumentValues(field, node, variables)
    args.set(node, read)
    return read
  }
}

function notNull(write: Write): Write {
  return (value, run) => {
    if (value == null) throw new TypeError('null in a field that is never null')
    return write(value, run)
  }
}

/** The members in the order asked. What is there at once is written at once; what is not is waited for side by side. */
function writeObject(
  { fields, end }: WriteFields,
  source: unknown,
  run: Run,
): string | Promise<string> {
  const { budget } = run.context
  budget.check()
  let text = ''
  let bytes = end.length
  let parts: (string | Promise<string>)[] | undefined
  try {
    for (const { key, write, isLeaf } of fields) {
      const part = write(source, run)
      bytes += key.length
      if (typeof part !== 'string') {
        parts ??= []
        parts.push(text + key, part)
        text = ''
        continue
      }
      if (isLeaf) bytes += part.length
      text += key + part
    }
    budget.spend(bytes, fields.length)
  } catch (failure) {
    abandon(parts)
    throw failure
  }
  if (parts === undefined) return text + end
  parts.push(text + end)
  return Promise.all(parts).then((all) => all.join(''))
}

function writeList(write: Write, value: unknown, run: Run): string | Promise<string> {
  if (!Array.isArray(value)) throw new TypeError('a list is an array')
  let text = '['
  let parts: (string | Promise<string>)[] | undefined
  try {
    for (let i = 0; i < value.length; i++) {
      const part = write(value[i], run)
      if (i > 0) text += ','
      if (typeof part === 'string') {
        text += part
        continue
      }
      parts ??= []
      parts.push(text, part)
      text = ''
    }
    run.context.budget.spend(value.length + 1, 0)
  } catch (failure) {
    abandon(parts)
    throw failure
  }
  if (parts === undefined) return `${text}]`
  parts.push(`${text}]`)
  return Promise.all(parts).then((all) => all.join(''))
}

/** The whole answer fails, and what else fails of it needs no report. */
function abandon(parts: readonly (string | Promise<string>)[] | undefined): void {
  for (const part of parts ?? []) if (typeof part !== 'string') part.catch(() => {})
}

function leafWriter(type: GraphQLLeafType): Write {
  const isPlain = isEnumType(type) || isDigits(type)
  // Addresses: those of a list are mostly the same one.
  let last = { text: '', written: '""' }
  return (value, run) => {
    const serialized = type.serialize(value)
    if (typeof serialized === 'string') {
      if (isPlain) return `"${serialized}"`
      if (serialized === last.text) return last.written
      if (!isPlainText(serialized)) return writeEscaped(serialized, run)
      last = { text: serialized, written: `"${serialized}"` }
      return last.written
    }
    if (isPromise(serialized)) throw new TypeError(`${type.name}: a promise in place of a value`)
    if (typeof serialized === 'number' || typeof serialized === 'boolean') return `${serialized}`
    if (serialized == null) throw new TypeError(`${type.name}: no value`)
    const text = JSON.stringify(serialized)
    run.context.budget.spend(Buffer.byteLength(text) - text.length, 0)
    return text
  }
}

/** The object counts a byte for each character. */
function writeEscaped(text: string, { context }: Run): string {
  const written = JSON.stringify(text)
  context.budget.spend(Buffer.byteLength(written) - written.length, 0)
  return written
}
