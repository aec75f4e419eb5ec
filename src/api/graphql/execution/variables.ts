import {
  coerceInputValue,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql'
import { createGraphqlError } from '../../errors/errors.ts'
import { shortened } from '../../errors/message-words.ts'
import { maxSuggestedCharacters } from './limits.ts'
import { lengthOf } from './prices.ts'

/**
 * Coerces the variables of an operation (GraphQL specification 6.1.2) as the library does, with its messages, but prints only the
 * beginning of a refused value: the library prints an input object anew for each member that it does not know.
 */

/** The coerced variables by name, or the reasons why they are refused. */
export type Coerced =
  | { readonly coerced: Record<string, unknown>; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: never }

/** Maximum number of errors, as in the executor. */
const maxErrors = 50

/** Returns the result of an operation whose variables are refused; `undefined` for an operation to execute. */
export function refusedVariables(args: ExecutionArgs): ExecutionResult | undefined {
  const operation = getOperationAST(args.document, args.operationName)
  if (!operation) return undefined
  const { errors } = coerceVariables(args.schema, operation, args.variableValues)
  return errors && { errors }
}

interface Known {
  readonly operation: OperationDefinitionNode
  readonly result: Coerced
}

/** The results of requests by their variables: pricing, compiling and executing a request need them. */
const knownByGiven = new WeakMap<object, Known>()

/** Coerces the variables of a request, once for each operation that it runs. */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>> | null | undefined,
): Coerced {
  const values = given ?? {}
  const known = knownByGiven.get(values)
  if (known?.operation === operation) return known.result
  const definitions = operation.variableDefinitions ?? []
  const brief = coerceAll(schema, definitions, { given: values, hideSuggestions: true })
  const isFinal = brief.errors === undefined || lengthOf(values) > maxSuggestedCharacters
  const result = isFinal ? brief : coerceAll(schema, definitions, { given: values })
  knownByGiven.set(values, { operation, result })
  return result
}

interface Given {
  readonly given: Readonly<Record<string, unknown>>
  readonly hideSuggestions?: boolean
}

function coerceAll(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  { given, hideSuggestions = false }: Given,
): Coerced {
  const coerced: Record<string, unknown> = Object.create(null)
  const errors: GraphQLError[] = []
  // Several errors may be about one value.
  const texts = new Map<unknown, string>()
  const report = (error: GraphQLError) => {
    if (errors.length === maxErrors) throw tooManyErrors
    errors.push(error)
  }
  try {
    for (const definition of definitions) {
      const name = definition.variable.name.value
      const type = typeFromAST(schema, definition.type)
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value == null || !isInputType(type)) {
        // The library prints no value here.
        const one = getVariableValues(schema, [definition], given)
        one.errors?.forEach(report)
        Object.assign(coerced, one.coerced)
        continue
      }
      coerced[name] = coerceInputValue(
        value,
        type,
        (path, invalid, error) => {
          const text = texts.get(invalid) ?? beginningOf(invalid)
          texts.set(invalid, text)
          const place = path.length === 0 ? '' : ` at "${name}${printPath(path)}"`
          const message = `Variable "$${name}" got invalid value ${text}${place}; ${error.message}`
          report(createGraphqlError(message, { nodes: definition, originalError: error }))
        },
        hideSuggestions,
      )
    }
  } catch (thrown) {
    if (thrown !== tooManyErrors) throw thrown
    errors.push(tooManyErrors)
  }
  return errors.length === 0 ? { coerced: { ...coerced } } : { errors }
}

const tooManyErrors = createGraphqlError(
  'Too many errors processing variables, error limit reached. Execution aborted.',
  {},
)

function printPath(path: readonly (string | number)[]): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
}

/** Prints a value in the form of the library, up to about the length that a message may repeat. */
function beginningOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value))
  if (typeof value !== 'object' || value === null) return String(value)
  const isList = Array.isArray(value)
  const members = isList ? value.slice(0, maxItems) : value
  let text = ''
  for (const name in members) {
    if (depth === maxDepth) return isList ? '[Array]' : '[Object]'
    if (text.length > 200) break
    const member = beginningOf(Reflect.get(members, name), depth + 1)
    text += `${text && ', '}${isList ? '' : `${shortened(name)}: `}${member}`
  }
  if (!isList) return text === '' ? '{}' : `{ ${text} }`
  const more = value.length - maxItems
  return `[${text}${more > 0 ? `, ... ${more} more item${more === 1 ? '' : 's'}` : ''}]`
}

/** Maximum number of printed items of a list, and of levels of lists and objects in a printed value. */
const maxItems = 10
const maxDepth = 2
