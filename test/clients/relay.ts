import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  buildSchema,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'

/** Runs the Relay compiler on the schema, with a refetchable fragment on each Node and every list as a connection. */

const generated = new URL('generated/relay/', import.meta.url)
const schemaFile = fileURLToPath(new URL('../../schema.graphql', import.meta.url))
const compiler = fileURLToPath(new URL('node_modules/relay-compiler/cli.js', import.meta.url))

/** The result of the compiler. */
export interface RelayCompilation {
  /** Types that implement Node. */
  readonly nodes: readonly string[]
  /** Output of the compiler on failure, otherwise empty. */
  readonly problems: string
}

/** Compiles the fragments. Their names start with the name of their file, as the compiler requires. */
export function compileForRelay(): RelayCompilation {
  const schema = buildSchema(readFileSync(schemaFile, 'utf8'))
  const interfaceOfNodes = schema.getType('Node')
  if (!isInterfaceType(interfaceOfNodes)) throw new Error('expected Node to be an interface')
  const nodes = schema.getImplementations(interfaceOfNodes).objects.map(({ name }) => name)
  const fragments = [...nodes, 'Query'].flatMap((name) => fragmentsOn(schema, name))
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(new URL('source/', generated), { recursive: true })
  mkdirSync(new URL('artifacts/', generated), { recursive: true })
  const source = fragments.map((fragment) => `graphql\`${fragment}\``).join('\n')
  writeFileSync(new URL('source/nodes.ts', generated), source)
  const settings = {
    src: './source',
    schema: schemaFile,
    language: 'typescript',
    artifactDirectory: './artifacts',
  }
  const settingsFile = fileURLToPath(new URL('relay.config.json', generated))
  writeFileSync(settingsFile, JSON.stringify(settings))
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, settingsFile], {
    cwd: fileURLToPath(generated),
    encoding: 'utf8',
  })
  return { nodes, problems: status === 0 ? '' : `${stdout}${stderr}` }
}

/** Returns a fragment with the plain fields of a type and one for each of its lists, which Relay pages through. */
function fragmentsOn(schema: GraphQLSchema, on: string): string[] {
  const type = schema.getType(on)
  if (!isObjectType(type)) throw new Error(`expected fields of ${on}`)
  const fields = Object.values(type.getFields()).filter(
    ({ args }) => !args.some(isRequiredArgument),
  )
  const plain = fields.filter((field) => isLeafType(getNamedType(field.type)))
  const lists = fields.filter((field) => getNamedType(field.type).name.endsWith('Connection'))
  const fragment = (name: string, directives: string, selection: string) => {
    const queryName = `${name.replaceAll('_', '')}RefetchQuery`
    const head = `fragment ${name} on ${on} @refetchable(queryName: "${queryName}") ${directives}`
    return `${head} { ${selection} }`
  }
  return [
    ...(on === 'Query'
      ? []
      : [fragment(`nodes_${on}`, '', plain.map(({ name }) => name).join(' '))]),
    ...lists.map(({ name }) => {
      const key = `nodes_${on}_${name}`
      const paged = `${name}(first: $count, after: $cursor) @connection(key: "${key}")`
      return fragment(key, paging, `${paged} { edges { node { __typename } } }`)
    }),
  ]
}

const paging =
  '@argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })'
