import { type ASTNode, type DocumentNode, type GraphQLError, Kind, visit } from 'graphql'
import { createGraphqlError } from '../../errors/errors.ts'

/**
 * Errors of literals that do not match their type. The library names neither the argument nor a code, so the errors are completed here.
 */

/**
 * Adds the argument or variable to the errors of literals, in the message and as `extensions.argument`, as the errors of resolvers have
 * it, and the code that the same value in a variable has.
 */
export function withArguments(
  document: DocumentNode,
  errors: readonly GraphQLError[],
): readonly GraphQLError[] {
  const literals = new Set(errors.filter(isOfLiteral).flatMap(({ nodes }) => nodes?.[0] ?? []))
  if (literals.size === 0) return errors
  const names = namesOf(document, literals)
  return errors.map((error) => {
    const [node] = error.nodes ?? []
    const argument = node && names.get(node)
    if (argument === undefined || !isOfLiteral(error)) return error
    const extensions = { ...error.extensions, code: 'BAD_USER_INPUT', argument }
    return createGraphqlError(`${argument}: ${error.message}`, { nodes: node ?? null, extensions })
  })
}

/** Whether the error is about a literal. The result of a validation may be cached with complete errors. */
function isOfLiteral({ nodes, extensions: { argument } }: GraphQLError): boolean {
  return argument === undefined && /Value$/.test(nodes?.[0]?.kind ?? '')
}

/** The names of the arguments and variables that have the literals, with the members of input objects. */
function namesOf(
  document: DocumentNode,
  literals: ReadonlySet<ASTNode>,
): ReadonlyMap<ASTNode, string> {
  const names = new Map<ASTNode, string>()
  const path: string[] = []
  visit(document, {
    enter(node) {
      const name = nameOf(node)
      if (name !== undefined) path.push(name)
      if (literals.has(node)) names.set(node, path.join('.'))
    },
    leave(node) {
      if (nameOf(node) !== undefined) path.pop()
    },
  })
  return names
}

function nameOf(node: ASTNode): string | undefined {
  if (node.kind === Kind.VARIABLE_DEFINITION) return `$${node.variable.name.value}`
  return node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD
    ? node.name.value
    : undefined
}
