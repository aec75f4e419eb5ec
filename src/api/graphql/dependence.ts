import type { GraphQLField, GraphQLObjectType } from 'graphql'

/**
 * What the value of a field depends on, declared with the field or with its type. An answer is kept only where all of its
 * fields declare it.
 *
 * - PARENT: on the object alone that has the field.
 * - ADDRESS: on the updates of the address and class in its arguments, and with a bound of a list among these on the tip.
 * - TIP: on how far the log reaches.
 * - NOW: on anything else; what declares nothing.
 */
export type Dependence = 'PARENT' | 'ADDRESS' | 'TIP' | 'NOW'

/** For the option `extensions` of a field, or of a type for all of its fields. */
export function dependsOn(dependence: Dependence): { readonly dependsOn: Dependence } {
  return { dependsOn: dependence }
}

/** Of a field of a type. */
export function dependenceOf(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
): Dependence {
  // A type of the Relay plugin, whose fields are members of what the connection gives.
  if (type.name === 'PageInfo') return 'PARENT'
  if (isIntrospection(type, field)) return 'PARENT'
  const declared = field.extensions.dependsOn ?? type.extensions.dependsOn
  return (declared as Dependence | undefined) ?? 'NOW'
}

/** Whether a field is of the schema alone: `__schema`, `__type`, and all below them. */
export function isIntrospection(
  { name: typeName }: GraphQLObjectType,
  { name }: GraphQLField<unknown, unknown>,
): boolean {
  return typeName.startsWith('__') || name.startsWith('__')
}
