import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from 'graphql'

/**
 * Everything that can be asked of a type, as fragments: types contain each other, so only to a depth, and from one thing that
 * has a root field of its own to the next only once, as pages do.
 */

/** Fragments by name, and the name of the one that selects the whole type. */
export interface FullSelection {
  readonly name: string
  /** Definitions, to be put behind an operation. */
  readonly fragments: string
}

/** Selects every field of a type and of what hangs on it, `depth` types deep. */
export function fullSelection(schema: GraphQLSchema, type: string, depth: number): FullSelection {
  const definitions = new Map<string, string>()
  const roots = Object.values(schema.getQueryType()?.getFields() ?? {})
  const things = new Set(roots.map((field) => getNamedType(field.type)))

  function fragmentOf(type: GraphQLNamedType, depth: number, hops: number): string {
    const name = `${type.name}${depth}_${hops}`
    if (!definitions.has(name)) {
      definitions.set(name, '')
      definitions.set(name, `fragment ${name} on ${type.name} { ${bodyOf(type, depth, hops)} }`)
    }
    return name
  }

  function bodyOf(type: GraphQLNamedType, depth: number, hops: number): string {
    if (isUnionType(type)) {
      const variants = type.getTypes().map((variant) => `...${fragmentOf(variant, depth, hops)}`)
      return ['__typename', ...variants].join(' ')
    }
    const fields = isObjectType(type) ? Object.values(type.getFields()) : []
    return ['__typename', ...fields.map((field) => selectionOf(field, depth, hops))].join(' ')
  }

  function selectionOf(field: GraphQLField<unknown, unknown>, depth: number, hops: number): string {
    const type = getNamedType(field.type)
    if (field.args.some(isRequiredArgument)) return ''
    if (isLeafType(type)) return field.name
    const left = things.has(type) ? hops - 1 : hops
    return depth === 0 || left < 0
      ? ''
      : `${field.name} { ...${fragmentOf(type, depth - 1, left)} }`
  }

  const root = schema.getType(type)
  if (root === undefined) throw new Error(`no type ${type}`)
  const name = fragmentOf(root, depth, 1)
  return { name, fragments: [...definitions.values()].join('\n') }
}
