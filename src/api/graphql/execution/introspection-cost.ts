import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SchemaMetaFieldDef,
  type SelectionSetNode,
} from 'graphql'
import { argumentsOf } from './field-arguments.ts'
import { type Fragments, fragmentAt } from './fragments.ts'

/**
 * Counts the fields of an introspection query: exactly the fields that its execution would resolve, because the schema and the lengths of
 * its lists are known. Each selection is counted for all objects of its place together, so that the time for counting grows with the
 * document and not with the response.
 */

/** The parts of an operation that counting needs. */
export interface IntrospectionDeps {
  readonly schema: GraphQLSchema
  readonly fragments: Fragments
  /** Coerced variables by name. */
  readonly variables: Readonly<Record<string, unknown>>
  /** Limit at which counting stops. The result is then a number above the limit. */
  readonly limit: number
}

/** Creates a counter for the fields below `__schema` and `__type` of one operation. */
export function createIntrospectionCount(deps: IntrospectionDeps) {
  const { schema, variables, fragments, limit } = deps
  const places = placesOf(schema)
  const counts = new Map<SelectionSetNode, Map<Place, number>>()

  /** Counts the fields below a field of the root. */
  function belowRoot(definition: MetaField, node: Node): number {
    return below(definition, node, places.root)
  }

  function below(definition: MetaField, node: Node, place: Place): number {
    const type = getNamedType(definition.type)
    // Above the limit, the fields of the place alone are too many.
    if (place.objects > limit || !isObjectType(type) || node.selectionSet === undefined) return 0
    const args = definition.args.length === 0 ? {} : argumentsOf(definition, node, variables)
    // The field fails.
    if (args === undefined) return 0
    // There is nothing below a type that does not exist, whose name may be very long.
    if (typeof args.name === 'string' && schema.getType(args.name) === undefined) return 0
    return ofSelection(node.selectionSet, type, places.below(place, definition, args))
  }

  function ofSelection(set: SelectionSetNode, type: GraphQLObjectType, place: Place): number {
    const known = counts.get(set)?.get(place)
    if (known !== undefined) return known
    let count = 0
    for (const selection of set.selections) {
      if (count > limit) break
      if (selection.kind === Kind.FIELD) {
        const definition = type.getFields()[selection.name.value]
        count += place.objects
        if (definition !== undefined) count += below(definition, selection, place)
      } else {
        const fragment = fragmentAt(selection, fragments)
        // Validation refuses fragments on other types here.
        if (fragment !== undefined) count += ofSelection(fragment.selectionSet, type, place)
      }
    }
    const ofSet = counts.get(set) ?? new Map<Place, number>()
    counts.set(set, ofSet.set(place, count))
    return count
  }

  return { belowRoot }
}

type MetaField = typeof SchemaMetaFieldDef

type Node = Parameters<typeof argumentsOf>[1] & {
  readonly selectionSet?: SelectionSetNode | undefined
}

/** A place of a response. The schema determines its objects. */
interface Place {
  /** The different objects at this place, with the number of times that each occurs. */
  readonly values: ReadonlyMap<unknown, number>
  readonly objects: number
  /** The places of its fields, by their names and arguments. */
  readonly places: Map<string, Place>
}

interface Places {
  readonly root: Place
  below(place: Place, definition: MetaField, args: object): Place
}

const placesBySchema = new WeakMap<GraphQLSchema, Places>()

/** Sizes of all remembered places together, in objects: some ten megabytes. */
const maxRemembered = 100_000

function placesOf(schema: GraphQLSchema): Places {
  const known = placesBySchema.get(schema)
  if (known !== undefined) return known
  const info = { schema } as GraphQLResolveInfo
  const root: Place = { values: new Map([[undefined, 1]]), objects: 1, places: new Map() }
  let remembered = 0

  function below(place: Place, definition: MetaField, args: object): Place {
    const key = `${definition.name} ${JSON.stringify(args)}`
    const there = place.places.get(key)
    if (there !== undefined) return there
    const values = new Map<unknown, number>()
    let objects = 0
    for (const [source, times] of place.values) {
      const value = definition.resolve?.(source, args, undefined, info)
      for (const one of isList(definition.type) ? listOf(value) : [value]) {
        if (one == null) continue
        values.set(one, (values.get(one) ?? 0) + times)
        objects += times
      }
    }
    const made: Place = { values, objects, places: new Map() }
    remembered += values.size + key.length
    if (remembered > maxRemembered) {
      root.places.clear()
      remembered = 0
    }
    place.places.set(key, made)
    return made
  }

  const places = { root, below }
  placesBySchema.set(schema, places)
  return places
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type)
}
