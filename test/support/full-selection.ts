import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { present } from '../../src/lib/assert.ts'

/** Selects all fields of a type by fragments. Types contain each other, so the selection has a maximum depth. */

/** Fragments by name, and the name of the one that selects the whole type. */
export interface FullSelection {
  readonly name: string
  /** The definitions, to append to an operation. */
  readonly fragments: string
}

/**
 * Selects every field of a type and of its nested types, `depth` levels deep. Blocks, transactions, outputs, milestones, updates,
 * addresses and chains refer to each other without end, so below such an object the selection contains no connections, and of
 * other such objects only `__typename`. `without` names omitted fields, such as `Block.parents`.
 */
export function fullSelection(
  schema: GraphQLSchema,
  type: string,
  depth: number,
  without: readonly string[] = [],
): FullSelection {
  const definitions = new Map<string, string>()
  const addressContent = present(schema.getType('AddressContent'), 'the content of addresses')

  const things = new Set(schema.getPossibleTypes(present(schema.getType('Node'), 'Node') as never))
  const isThing = (type: GraphQLNamedType) => things.has(type as never)

  function fragmentOf(type: GraphQLNamedType, from: number, isBeside = false): string {
    const isOfThing = isBeside || isThing(type)
    const depth = isBeside && isThing(type) ? -1 : from
    const name =
      depth === -1 ? `${type.name}Beside` : `${type.name}${depth}${isOfThing ? 'OfThing' : ''}`
    if (!definitions.has(name)) {
      definitions.set(name, '')
      definitions.set(
        name,
        `fragment ${name} on ${type.name} { ${bodyOf(type, depth, isOfThing)} }`,
      )
    }
    return name
  }

  function bodyOf(type: GraphQLNamedType, depth: number, isOfThing: boolean): string {
    if (depth === -1) return '__typename'
    if (isAbstractType(type)) {
      const variants = schema
        .getPossibleTypes(type)
        .map((variant) => `...${fragmentOf(variant, depth, isOfThing)}`)
      return ['__typename', ...variants].join(' ')
    }
    // Selects only the content of an address, because its outputs lead to the whole graph.
    if (type.name === 'Address') return `content { ...${fragmentOf(addressContent, depth)} }`
    const fields = isObjectType(type) ? Object.values(type.getFields()) : []
    const selected = fields.filter((field) => !without.includes(`${type.name}.${field.name}`))
    return ['__typename', ...selected.map((field) => selectionOf(field, depth, isOfThing))].join(
      ' ',
    )
  }

  function selectionOf(
    field: GraphQLField<unknown, unknown>,
    depth: number,
    isOfThing: boolean,
  ): string {
    const type = getNamedType(field.type)
    if (field.args.some(isRequiredArgument)) return ''
    if (isLeafType(type)) return field.name
    if (isOfThing && type.name.endsWith('Connection')) return ''
    return depth === 0 ? '' : `${field.name} { ...${fragmentOf(type, depth - 1, isOfThing)} }`
  }

  const root = schema.getType(type)
  if (root === undefined) throw new Error(`no type ${type}`)
  const name = fragmentOf(root, depth)
  return { name, fragments: [...definitions.values()].join('\n') }
}
