import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { present } from '../../src/lib/assert.ts'

/** Everything that can be asked of a type, as fragments: types contain each other, so only to a depth. */

/** Fragments by name, and the name of the one that selects the whole type. */
export interface FullSelection {
  readonly name: string
  /** Definitions, to be put behind an operation. */
  readonly fragments: string
}

/** Selects every field of a type and of what hangs on it, `depth` types deep. */
export function fullSelection(schema: GraphQLSchema, type: string, depth: number): FullSelection {
  const definitions = new Map<string, string>()
  const addressContent = present(schema.getType('AddressContent'), 'the content of addresses')

  function fragmentOf(type: GraphQLNamedType, depth: number): string {
    const name = `${type.name}${depth}`
    if (!definitions.has(name)) {
      definitions.set(name, '')
      definitions.set(name, `fragment ${name} on ${type.name} { ${bodyOf(type, depth)} }`)
    }
    return name
  }

  function bodyOf(type: GraphQLNamedType, depth: number): string {
    if (isAbstractType(type)) {
      const variants = schema
        .getPossibleTypes(type)
        .map((variant) => `...${fragmentOf(variant, depth)}`)
      return ['__typename', ...variants].join(' ')
    }
    // Of an address what it says; what it owns is a graph of its own.
    if (type.name === 'Address') return `content { ...${fragmentOf(addressContent, depth)} }`
    // And so is a chain.
    if (isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Chain')) {
      return '__typename chainId'
    }
    const fields = isObjectType(type) ? Object.values(type.getFields()) : []
    return ['__typename', ...fields.map((field) => selectionOf(field, depth))].join(' ')
  }

  function selectionOf(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type)
    if (isLeafType(type)) return field.name
    return depth === 0 ? '' : `${field.name} { ...${fragmentOf(type, depth - 1)} }`
  }

  const root = schema.getType(type)
  if (root === undefined) throw new Error(`no type ${type}`)
  const name = fragmentOf(root, depth)
  return { name, fragments: [...definitions.values()].join('\n') }
}
