import type { GraphQLField, GraphQLObjectType } from 'graphql'

/**
 * The data that the value of a field depends on, declared with the field or with its type. A response is cached by its dependence on
 * the log only if all of its fields declare one.
 *
 * - PARENT: only the parent object.
 * - ADDRESS: the updates of the address and class in its arguments. If these contain a bound of the list, also the tip.
 * - TIP: the tip of the log.
 * - NOW: anything else. This is the default.
 */
export type Dependence = 'PARENT' | 'ADDRESS' | 'TIP' | 'NOW'

/** Returns the value for the option `extensions` of a field, or of a type for all of its fields. */
export function dependsOn(dependence: Dependence): { readonly dependsOn: Dependence } {
  return { dependsOn: dependence }
}

/** Returns the dependence of a field of a type. */
export function dependenceOf(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
): Dependence {
  // A type of the Relay plugin. Its fields are members of the object that the connection returns.
  if (type.name === 'PageInfo') return 'PARENT'
  if (isIntrospection(type, field)) return 'PARENT'
  const declared = field.extensions.dependsOn ?? type.extensions.dependsOn
  return (declared as Dependence | undefined) ?? 'NOW'
}

/** Whether a field is a field of introspection: `__schema`, `__type`, and all fields below them. */
export function isIntrospection(
  { name: typeName }: GraphQLObjectType,
  { name }: GraphQLField<unknown, unknown>,
): boolean {
  return typeName.startsWith('__') || name.startsWith('__')
}
