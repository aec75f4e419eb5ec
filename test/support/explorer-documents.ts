import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  parseType,
  type SelectionSetNode,
  type TypeNode,
  validate,
} from 'graphql'
import { scalars } from '../../src/client/scalars.ts'
import { assert, present } from '../../src/lib/assert.ts'

/**
 * Generates the documents of the explorer with their types from `schema.graphql`: one module for each file, so that a page loads
 * only its own document. The documents of the pages are the published files of `docs/examples/explorer`.
 */

const sources = ['docs/examples/explorer', 'src/explorer/documents'] as const
const shared = 'docs/examples/fragments.graphql'
const target = 'src/generated/explorer'

/** The document of a page, with the shared fragments that it needs. */
export function documentOf(root: string, page: string): string {
  return withFragments(root, readFileSync(join(root, sources[0], `${page}.graphql`), 'utf8'))
}

/** Adds the shared fragments that a document uses, directly or through other fragments. */
function withFragments(root: string, document: string): string {
  const fragments = readFileSync(join(root, shared), 'utf8').split(/\n(?=fragment )/)
  const parts = [document]
  for (const part of parts) {
    for (const [, name] of part.matchAll(/\.\.\.(\w+)/g)) {
      const fragment = fragments.find((one) => one.startsWith(`fragment ${name} `))
      if (fragment !== undefined && !parts.includes(fragment)) parts.push(fragment)
    }
  }
  return parts.join('\n')
}

/** The documents of the explorer by the names of their files, with the shared fragments that they need. */
export function explorerDocuments(root: string): ReadonlyMap<string, string> {
  return new Map(
    sources.flatMap((folder) =>
      readdirSync(join(root, folder)).map((file) => [
        basename(file, '.graphql'),
        withFragments(root, readFileSync(join(root, folder, file), 'utf8')),
      ]),
    ),
  )
}

/** Writes the modules that are missing or out of date. Throws if a document is invalid against the schema. */
export function writeExplorerDocuments(root: string): void {
  const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'))
  mkdirSync(join(root, target), { recursive: true })
  for (const [name, text] of explorerDocuments(root)) {
    writeModule(root, name, moduleOf(schema, text, `${name}.graphql`))
  }
  writeModule(root, 'parameter-sentences', sentencesOf(schema, 'ProtocolParameters'))
  writeModule(root, 'health-sentences', sentencesOf(schema, 'HealthReason'))
}

function writeModule(root: string, name: string, written: string): void {
  const module = join(root, target, `${name}.ts`)
  if (existsSync(module) && readFileSync(module, 'utf8') === written) return
  writeFileSync(module, written)
}

/** The descriptions of the values of an enum, or of the fields of a type and of its nested types, by name and without ranges. */
export function sentencesOf(schema: GraphQLSchema, name: string): string {
  const sentences: Record<string, string> = {}
  const collect = (type: unknown): void => {
    if (!isObjectType(type)) return
    for (const field of Object.values(type.getFields())) {
      sentences[field.name] = (field.description ?? '').replace(/ \([^()]*\)\.$/, '.')
      collect(getNamedType(field.type))
    }
  }
  const type = schema.getType(name)
  collect(type)
  for (const value of isEnumType(type) ? type.getValues() : []) {
    sentences[value.name] = value.description ?? ''
  }
  return [
    '// Generated from schema.graphql by `npm run generate`.\n',
    `export const sentences: Readonly<Record<string, string>> = ${JSON.stringify(sentences, null, 2)}\n`,
  ].join('\n')
}

/** The module of one document: its text, and the types of its response, its variables and its fragments. */
export function moduleOf(schema: GraphQLSchema, text: string, origin: string): string {
  const document = parse(text)
  const problems = validate(schema, document)
  assert(problems.length === 0, `${origin}: ${problems.join('; ')}`)
  const printer = createPrinter(schema, document)
  const operation = present(
    document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION),
    `an operation in ${origin}`,
  )
  const name = present(operation.name, `a name of the operation in ${origin}`).value
  const root = present(schema.getRootType(operation.operation), 'a type of the operation')
  const fragments = [...printer.fragments.values()].map((fragment) => {
    const type = schema.getType(fragment.typeCondition.name.value)
    return `export type ${fragment.name.value} = ${printer.selection(type, [fragment.selectionSet])}\n`
  })
  return [
    `// Generated from ${origin} by \`npm run generate\`.\n`,
    `export type ${name}Data = ${printer.selection(root, [operation.selectionSet])}\n`,
    `export type ${name}Variables = ${printer.variables(operation)}\n`,
    ...fragments,
    `export const document: {\n  readonly text: string\n  readonly types?: (variables: ${name}Variables) => ${name}Data\n} = {\n  text: ${JSON.stringify(text)},\n}\n`,
  ].join('\n')
}

function createPrinter(schema: GraphQLSchema, document: DocumentNode) {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const one of document.definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)
  }

  /** Prints the type of a selection: one variant for each group of possible types with equal fields. */
  function selection(type: unknown, sets: readonly SelectionSetNode[]): string {
    const named = isAbstractType(type)
      ? schema.getPossibleTypes(type)
      : isObjectType(type) && [type]
    assert(named !== false, 'fields are selected from objects alone')
    const namesByBody = new Map<string, string[]>()
    for (const one of named) {
      const body = fields(one, sets)
      namesByBody.set(body, [...(namesByBody.get(body) ?? []), one.name])
    }
    const variants = [...namesByBody].map(([body, names]) =>
      body.replaceAll('$typename', names.map((name) => `'${name}'`).join(' | ')),
    )
    return variants.join(' | ')
  }

  function fields(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): string {
    const setsByKey = new Map<string, { field: string; sets: SelectionSetNode[]; is: Presence }>()
    const collect = (set: SelectionSetNode): void => {
      for (const one of set.selections) {
        if (one.kind === Kind.FIELD) {
          const key = (one.alias ?? one.name).value
          const is = one.directives?.length ? 'SOMETIMES' : 'ALWAYS'
          const entry = setsByKey.get(key) ?? { field: one.name.value, sets: [], is }
          if (one.selectionSet !== undefined) entry.sets.push(one.selectionSet)
          setsByKey.set(key, is === 'ALWAYS' ? { ...entry, is } : entry)
        } else if (one.kind === Kind.INLINE_FRAGMENT) {
          if (isOf(type, one.typeCondition?.name.value)) collect(one.selectionSet)
        } else {
          const fragment = present(fragments.get(one.name.value), 'a fragment that is there')
          if (isOf(type, fragment.typeCondition.name.value)) collect(fragment.selectionSet)
        }
      }
    }
    for (const set of sets) collect(set)
    const printed = [...setsByKey].map(([name, { field, sets: below, is }]) => {
      const key = is === 'ALWAYS' ? name : `${name}?`
      if (field === '__typename') return `readonly ${key}: $typename`
      const { type: of } = present(type.getFields()[field], `${type.name}.${field}`)
      return `readonly ${key}: ${output(of, below)}`
    })
    return `{ ${printed.join('; ')} }`
  }

  function isOf(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true
    const of = schema.getType(condition)
    return isAbstractType(of) && schema.isSubType(of, type)
  }

  function output(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): string {
    if (isNonNullType(type)) return bare(type.ofType, sets)
    return `${bare(type, sets)} | null`
  }

  function bare(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): string {
    if (isListType(type)) return `readonly (${output(type.ofType, sets)})[]`
    return sets.length > 0
      ? `(${selection(getNamedType(type), sets)})`
      : leaf(getNamedType(type).name)
  }

  function leaf(name: string): string {
    const type = schema.getType(name)
    if (isEnumType(type)) {
      return `(${type
        .getValues()
        .map((one) => `'${one.name}'`)
        .join(' | ')})`
    }
    return typeByScalar[name] ?? 'string'
  }

  function variables({ variableDefinitions = [] }: OperationDefinitionNode): string {
    const printed = variableDefinitions.map(({ variable, type, defaultValue }) => {
      const isNeeded = type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined
      return `readonly ${variable.name.value}${isNeeded ? '' : '?'}: ${input(type)}`
    })
    return printed.length === 0 ? '{ readonly [name: string]: never }' : `{ ${printed.join('; ')} }`
  }

  function input(type: TypeNode): string {
    if (type.kind === Kind.NON_NULL_TYPE) return bareInput(type.type)
    return `${bareInput(type)} | null | undefined`
  }

  function bareInput(type: TypeNode): string {
    if (type.kind === Kind.LIST_TYPE) return `readonly (${input(type.type)})[]`
    if (type.kind !== Kind.NAMED_TYPE) return input(type)
    const named = schema.getType(type.name.value)
    return isInputObjectType(named) ? members(named) : leaf(type.name.value)
  }

  /** Prints nested input objects as `unknown`: some input types are recursive, and no page uses nested ones. */
  function members(of: GraphQLInputObjectType): string {
    const printed = Object.values(of.getFields()).map(({ name, type, defaultValue }) => {
      const isNeeded = isNonNullType(type) && defaultValue === undefined
      const isObject = isInputObjectType(getNamedType(type))
      return `readonly ${name}${isNeeded ? '' : '?'}: ${isObject ? 'unknown' : input(parseType(String(type)))}`
    })
    return `{ ${printed.join('; ')} }`
  }

  return { fragments, selection, variables }
}

/** Whether every response contains a field: `@include` and `@skip` may omit it. */
type Presence = 'ALWAYS' | 'SOMETIMES'

/** The JSON types of the scalars, including the built-in ones; all other scalars are strings. */
const typeByScalar: Readonly<Record<string, string>> = {
  ...scalars,
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
}
