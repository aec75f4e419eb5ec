import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Log } from '../../lib/log.ts'
import { pageVersion, type UpdateList } from '../../service/updates/page-version.ts'
import type { Lasting } from '../answer-cache.ts'
import { noteOperation } from '../observation.ts'
import type { GatewayContext } from './builder.ts'
import {
  type CompiledQuery,
  type CompileOptions,
  compileQuery,
  type LogDependence,
  type Variables,
} from './compile.ts'
import { operationCost } from './cost.ts'
import { withMeteredServices } from './metered-services.ts'
import { type NotedContext, noteContext } from './noted-context.ts'
import { atOneMoment } from './one-moment.ts'
import { maxOperationCost } from './prices.ts'
import type { GraphqlServer } from './server.ts'

/** Queries that are parsed, validated and compiled once, and kept. */

/** A query as it was sent. */
export interface QueryRequest {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

/** A query with its variables, ready to run. */
export interface ReadyQuery {
  /** The JSON text of its data. Rejects where the answer has errors. */
  run(): Promise<string>
  /** What it costs at most. */
  readonly cost: number
  /** What reads a text that is equal for equal answers; `undefined` where the answer depends on more than the log. */
  readonly version: (() => () => Promise<string | undefined>) | undefined
  /** For how long its answer lasts, once it has run. */
  lasting(): Lasting
  /** The name of its operation. */
  readonly name: string | undefined
}

/** Queries by their text. */
export interface PreparedQueries {
  /** `undefined` for whatever is not a valid query of affordable cost with fitting variables: the server answers that. */
  prepare(request: QueryRequest, context: GatewayContext): ReadyQuery | undefined
}

/** What preparing needs. */
export interface PreparedQueryDeps {
  readonly graphql: GraphqlServer
  readonly schema: GraphQLSchema
  readonly log: Pick<Log, 'error' | 'debug'>
}

/** Keeps at most some 16 MiB of them. */
export function createPreparedQueries(deps: PreparedQueryDeps): PreparedQueries {
  const { graphql, schema } = deps
  const kept = new LRUCache<string, Prepared>({
    maxSize: mostKeptBytes,
    sizeCalculation: sizeOf,
  })

  function prepared(request: QueryRequest, context: GatewayContext): Prepared | undefined {
    const key = `${request.operationName ?? ''} ${request.query}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const document = validDocument(graphql, schema, request.query, context)
    const operation = document && getOperationAST(document, request.operationName)
    if (!document || operation?.operation !== 'query') return undefined
    const conditionNames = conditionsIn(document)
    if (conditionNames.length > mostConditions) return undefined
    const made: Prepared = {
      key,
      document,
      operation,
      conditionNames,
      compiled: new Map(),
      costs: new Map(),
    }
    kept.set(key, made)
    return made
  }

  return {
    prepare: (request, context) => {
      const found = prepared(request, context)
      if (found === undefined) return undefined
      const { operation } = found
      const definitions = operation.variableDefinitions ?? []
      const variables = getVariableValues(schema, definitions, request.variables).coerced
      if (variables === undefined) return undefined
      const { conditions, form } = conditionsOf(found, variables)
      if (!found.compiled.has(form)) {
        const { document } = found
        found.compiled.set(form, compile(deps, { schema, document, operation, conditions }))
        // It is larger now, and what is the same object keeps its size.
        kept.set(found.key, { ...found })
      }
      const compiled = found.compiled.get(form)
      if (compiled === undefined) return undefined
      const cost = costOf(schema, found, request, context)
      if (context.observation !== undefined) context.observation.cost = cost
      if (cost > maxOperationCost) return undefined
      const { dependsOnLog } = compiled
      noteOperation(context.observation, operation)
      let noted: NotedContext | undefined
      return {
        cost,
        name: operation.name?.value,
        run: () =>
          isOneRead(dependsOnLog, variables)
            ? compiled.run(withMeteredServices(context), variables)
            : atOneMoment(context, (asOf) => {
                noted = noteContext(asOf)
                return compiled.run(noted.context, variables)
              }),
        lasting: () => noted?.lasting() ?? 'NOT',
        version: dependsOnLog && (() => versionOf(dependsOnLog, variables, context)),
      }
    },
  }
}

function versionOf(
  dependsOnLog: LogDependence,
  variables: Variables,
  { services }: GatewayContext,
): () => Promise<string | undefined> {
  const lists = listsOf(dependsOnLog, variables)
  const isOfTip = dependsOnLog.isOfTip || lists.some(isBounded)
  const ofAddresses = lists.map(({ address, class: updateClass }) => ({
    address: address ?? '',
    class: updateClass ?? 'OWNED',
  }))
  return pageVersion(services, ofAddresses, isOfTip)
}

/** One page of the updates of an address, and nothing beside it, is one read, unless its bounds have to be read too. */
function isOneRead(dependsOnLog: LogDependence | undefined, variables: Variables): boolean {
  if (dependsOnLog === undefined) return false
  const [list, ...others] = listsOf(dependsOnLog, variables)
  if (list?.address == null || others.length > 0) return false
  const { startMilestoneIndex, fromMilestone, toMilestone, after, before } = list
  const named = [startMilestoneIndex, fromMilestone, toMilestone, after && before]
  return named.every((bound) => bound == null)
}

/** As the schema coerced their arguments. */
function listsOf({ lists }: LogDependence, variables: Variables): readonly ListArguments[] {
  return lists(variables) as readonly ListArguments[]
}

interface ListArguments {
  readonly address?: string | null
  readonly class?: UpdateList['class'] | null
  readonly startMilestoneIndex?: number | null
  readonly fromMilestone?: number | null
  readonly toMilestone?: number | null
  readonly after?: string | null
  readonly before?: string | null
}

/** Whether there is such a milestone, and whether a cursor is one of this history, depends on the whole log; as does its own list. */
function isBounded({ address, class: _class, ...bounds }: ListArguments): boolean {
  const { startMilestoneIndex, fromMilestone, toMilestone, after, before } = bounds
  const named = [startMilestoneIndex, fromMilestone, toMilestone, after, before]
  return address == null || named.some((bound) => bound != null)
}

interface Prepared {
  /** Under which it is kept. */
  readonly key: string
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** Of the variables in `@skip` and `@include`. */
  readonly conditionNames: readonly string[]
  /** By the values of those variables. */
  readonly compiled: Map<string, CompiledQuery | undefined>
  /** By its variables, of texts by their lengths: sizes of pages and of arguments determine what it costs. */
  readonly costs: Map<string, number>
}

function costOf(
  schema: GraphQLSchema,
  { document, costs }: Prepared,
  { operationName, variables }: QueryRequest,
  contextValue: GatewayContext,
): number {
  const key = Object.entries(variables)
    .map(([name, value]) => `${name} ${priceKeyOf(value)}`)
    .join()
  const known = costs.get(key)
  if (known !== undefined) return known
  const args = { schema, document, contextValue, operationName, variableValues: variables }
  const cost = operationCost(args) ?? 0
  if (costs.size === mostPrices) costs.clear()
  if (key.length < longestPriceKey) costs.set(key, cost)
  return cost
}

function priceKeyOf(value: unknown): string | number {
  return typeof value === 'string' ? value.length : JSON.stringify(value)
}

const mostPrices = 50
const longestPriceKey = 200

/** The values of its conditions, and the name of the form that it has with these. */
function conditionsOf({ conditionNames }: Prepared, variables: Variables) {
  const conditions = new Map(conditionNames.map((name) => [name, variables[name] === true]))
  return { conditions, form: [...conditions.values()].join() }
}

function compile({ log }: PreparedQueryDeps, options: CompileOptions): CompiledQuery | undefined {
  try {
    return compileQuery(options)
  } catch (error) {
    log.error('query-not-compiled', { error })
    return undefined
  }
}

/** With the limits of documents that hold on every transport; what is refused is worded by the server. */
function validDocument(
  graphql: GraphqlServer,
  schema: GraphQLSchema,
  query: string,
  context: GatewayContext,
): DocumentNode | undefined {
  try {
    const { parse, validate } = graphql.getEnveloped(context)
    const document: DocumentNode = parse(query)
    return validate(schema, document).length === 0 ? document : undefined
  } catch (failure) {
    if (failure instanceof GraphQLError) return undefined
    throw failure
  }
}

function conditionsIn(document: DocumentNode): readonly string[] {
  const names = new Set<string>()
  visit(document, {
    Directive({ arguments: given }) {
      for (const { value } of given ?? []) {
        if (value.kind === Kind.VARIABLE) names.add(value.name.value)
      }
    },
  })
  return [...names]
}

/** Each doubles the forms of a query. */
const mostConditions = 4

const mostKeptBytes = 16_777_216

/** Measured: a parsed document has some 46 bytes a character, and each compiled field less than a kilobyte. */
function sizeOf({ key, compiled }: Prepared): number {
  const fields = [...compiled.values()].reduce((sum, one) => sum + (one?.size ?? 0), 0)
  return 5_000 + key.length * 50 + fields * 1_000
}
