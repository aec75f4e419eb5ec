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
import { createBudget } from '../../src/api/graphql/budget.ts'
import type { GatewayContext } from '../../src/api/graphql/builder.ts'
import { compileQuery } from '../../src/api/graphql/compile.ts'
import { schema } from '../../src/api/graphql/schema.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { networkOf } from '../../src/protocol/network.ts'
import { createChangeCache } from '../../src/service/blocks/change-cache.ts'
import type { Services } from '../../src/service/services.ts'
import { fullShare } from './full-share.ts'

/** Asks the schema itself, without a server: the same documents, resolvers and errors. */

/** An answer, of any shape: its reader names the members it expects, and fails without them. */
export interface Answer extends ExecutionResult {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
  readonly data?: any
}

/** Runs a document on some services; of these only the parts that the document needs. An invalid one is an error. */
export async function askSchema(
  services: Partial<Services>,
  source: string,
  variableValues: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { document, errors } = prepare(source)
  if (errors.length > 0) return { errors }
  // As with the ledger inside, there is no node behind unless the test brings one.
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

/** Every query of a test is run compiled as well, and must give the same answer; or none, where the answer has errors. */
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

/** The one that stores of tests are founded with. */
const network = networkOf(developmentParameters(0))

interface Prepared {
  readonly document: DocumentNode
  readonly errors: readonly GraphQLError[]
}

/** Large documents are asked over and over. */
const preparedBySource = new Map<string, Prepared>()

function prepare(source: string): Prepared {
  const known = preparedBySource.get(source)
  if (known !== undefined) return known
  const document = parse(source)
  const prepared = { document, errors: validate(schema, document) }
  preparedBySource.set(source, prepared)
  return prepared
}
