import { isObjectType } from 'graphql'
import type { Schema } from '../../protocol/schema/schema.ts'
import { fieldNameOf, graphNameOf } from './model/from-schema.ts'
import { kindName } from './model/from-schema-inputs.ts'
import { protocolRoots } from './model/model.ts'
import { type AnyStruct, collectTypes, nodeOf, type SchemaNode } from './model/protocol-types.ts'
import { memberSentence, typeSentence } from './model/schema-sentences.ts'
import { schema } from './schema.ts'

/** Returns the object model as Markdown tables: the content of `docs/reference.md`. */
export function referenceText(): string {
  const families = [...types.families].toSorted(byName).map(([name, kinds]) => family(name, kinds))
  const structs = [...types.structs].toSorted(byName).map(([, struct]) => section(struct))
  const model = ['## Families', ...families, '## Types', ...structs]
  return `${[introduction, ...model].join('\n\n')}\n`
}

const types = collectTypes(protocolRoots)

const introduction = `# Object model

Every object of the block protocol, version 3, with its JSON and GraphQL types. Members are in the order of their bytes.
Generated from the declarations in \`src/protocol\` by \`npm run reference\`; do not edit.`

function family(name: string, kinds: readonly AnyStruct[]): string {
  const rows = kinds.map(
    (kind) => `| ${kind.code} | ${link(kind.name)} | \`${kindName(name, kind.name)}\` |`,
  )
  const table = ['| type | kind | member of the input |', '| --- | --- | --- |', ...rows]
  return [`### ${name}`, ...graphSentence(name), table.join('\n')].join('\n\n')
}

/** The sentence about a type whose name in GraphQL is another one. */
function graphSentence(name: string): readonly string[] {
  const inGraph = graphNameOf(name)
  return inGraph === name ? [] : [`Its name in GraphQL is \`${inGraph}\`.`]
}

function section(struct: AnyStruct): string {
  const members = Object.entries(struct.fields).map(([member, field]) => row(struct, member, field))
  const table = ['| member | JSON | GraphQL | meaning |', '| --- | --- | --- | --- |', ...members]
  const parts = [
    `### ${struct.name}`,
    [typeSentence(struct), ...graphSentence(struct.name)].join(' '),
  ]
  return [...parts, ...(members.length === 0 ? [] : [table.join('\n')])].join('\n\n')
}

function row(struct: AnyStruct, member: string, field: Schema<unknown>): string {
  const type = schema.getType(graphNameOf(struct.name))
  const name = fieldNameOf(struct, member)
  const graphql = isObjectType(type) ? String(type.getFields()[name]?.type) : ''
  const optional = field.mayBeAbsent === true ? ', optional' : ''
  const json = `${jsonForm(nodeOf(field))}${optional}`
  const renamed = name === member ? '' : `${name}: `
  return `| \`${member}\` | ${json} | \`${renamed}${graphql}\` | ${memberSentence(field, types)} |`
}

function jsonForm(node: SchemaNode): string {
  switch (node.kind) {
    case 'uint':
      return node.bits <= 32 ? 'number' : node.bits === 64 ? 'decimal text' : 'hexadecimal text'
    case 'bytes':
      return 'hexadecimal text'
    case 'text':
      return 'text'
    case 'list':
      return `array of ${jsonForm(nodeOf(node.of))}`
    case 'optional':
      return jsonForm(nodeOf(node.of))
    case 'map':
      return 'object of hexadecimal texts'
    case 'struct':
    case 'union':
      return link(node.name)
  }
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
