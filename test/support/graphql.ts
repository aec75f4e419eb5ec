import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  getOperationAST,
  getVariableValues,
  parse,
  validate,
} from 'graphql'
import { expect } from 'vitest'
import type { GatewayContext } from '../../src/api/graphql/builder.ts'
import { createBudget } from '../../src/api/graphql/execution/budget.ts'
import { compileQuery } from '../../src/api/graphql/execution/compile.ts'
import { schema } from '../../src/api/graphql/schema.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { networkOf } from '../../src/protocol/network.ts'
import { createChangeCache } from '../../src/service/blocks/change-cache.ts'
import type { Services } from '../../src/service/services.ts'
import { fullShare } from './full-share.ts'

/** Executes documents against the schema without a server: with the same documents, resolvers and errors. */

/** A response of any shape. A test that reads a missing member fails. */
export interface Answer extends ExecutionResult {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
  readonly data?: any
}

/** Executes a document. `services` needs only the parts that the document uses. Returns the errors of an invalid document. */
export async function askSchema(
  services: Partial<Services>,
  source: string,
  variableValues: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { document, errors } = prepare(source)
  if (errors.length > 0) return { errors }
  // Like an embedded ledger, the source has no upstream node unless the test provides one.
  const changeCache = createChangeCache()
  const inside = { source: { node: undefined, network }, changeCache, ...services } as Services
  const contextValue = {
    services: inside,
    requestId: 'test',
    budget: createBudget(),
    share: fullShare(),
  } as GatewayContext
  const answer = await execute({ schema, document, variableValues, contextValue })
  await sameCompiled(document, { answer, variableValues, contextValue })
  return answer
}

/** Executes a query also as compiled code, which must return equal data, or none if the response has errors. */
async function sameCompiled(
  document: DocumentNode,
  { answer, variableValues, contextValue }: Executed,
): Promise<void> {
  const operation = getOperationAST(document)
  if (operation?.operation !== 'query') return
  const definitions = operation.variableDefinitions ?? []
  const variables = getVariableValues(schema, definitions, variableValues).coerced
  if (variables === undefined) return
  const conditions = new Map(
    Object.entries(variables).map(([name, value]) => [name, value === true]),
  )
  const compiled = compileQuery({ schema, document, operation, conditions })
  const budget = createBudget()
  const data = await compiled?.run({ ...contextValue, budget }, variables).catch(() => undefined)
  if (answer.errors !== undefined) expect(data).toBeUndefined()
  else if (compiled !== undefined) expect(data).toBe(JSON.stringify(answer.data))
}

interface Executed {
  readonly answer: ExecutionResult
  readonly variableValues: Readonly<Record<string, unknown>>
  readonly contextValue: GatewayContext
}

/** The network of the test stores. */
const network = networkOf(developmentParameters(0))

interface Prepared {
  readonly document: DocumentNode
  readonly errors: readonly GraphQLError[]
}

/** A cache, because tests execute large documents repeatedly. */
const preparedBySource = new Map<string, Prepared>()

function prepare(source: string): Prepared {
  const known = preparedBySource.get(source)
  if (known !== undefined) return known
  const document = parse(source)
  const prepared = { document, errors: validate(schema, document) }
  preparedBySource.set(source, prepared)
  return prepared
}
