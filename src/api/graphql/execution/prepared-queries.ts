import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Log } from '../../../lib/log.ts'
import { repeatCache } from '../../../lib/repeat-cache.ts'
import { passTurn } from '../../../lib/turns.ts'
import { pageVersion, type UpdateList } from '../../../service/updates/page-version.ts'
import { noteOperation } from '../../observation.ts'
import type { Validity } from '../../response-cache.ts'
import type { GatewayContext } from '../builder.ts'
import type { GraphqlServer } from '../server.ts'
import { atSnapshot } from './at-snapshot.ts'
import {
  type CompiledQuery,
  type CompileOptions,
  compileQuery,
  type LogDependence,
  type Variables,
} from './compile.ts'
import { operationCost } from './cost.ts'
import { withMeteredServices } from './metered-services.ts'
import { maxOperationCost } from './prices.ts'
import { type TrackedContext, trackContext } from './tracked-context.ts'
import { noteValid, partsOfRules } from './validation.ts'
import { coerceVariables } from './variables.ts'

/** A cache of queries that are parsed, validated and compiled. */

/** A query as the client sent it. */
export interface QueryRequest {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

/** A query with its variables, ready to run. */
export interface ReadyQuery {
  /** Resolves to the JSON text of `data`. Rejects when the response has errors. */
  run(): Promise<string>
  /** Maximum cost of the query. */
  readonly cost: number
  /** Prepares a read of a text that is equal for equal responses; `undefined` when the response depends on more than the log. */
  readonly version: (() => () => Promise<string | undefined>) | undefined
  /** Returns how long the response stays valid, after the query has run. */
  validity(): Validity
  /** Name of the operation. */
  readonly name: string | undefined
}

export interface PreparedQueries {
  /**
   * Resolves to `undefined` unless the request is a valid query within the cost limit with valid variables; the server answers others.
   * Takes several turns for a long document.
   */
  prepare(request: QueryRequest, context: GatewayContext): Promise<ReadyQuery | undefined>
}

export interface PreparedQueryDeps {
  readonly graphql: GraphqlServer
  readonly schema: GraphQLSchema
  readonly log: Pick<Log, 'error' | 'debug'>
}

/** Creates a cache of prepared queries. It holds about 16 MiB. A query is cached from its second request on. */
export function createPreparedQueries(deps: PreparedQueryDeps): PreparedQueries {
  const { schema } = deps
  const cache = createCache(deps)
  return {
    prepare: async (request, context) => {
      const prepared = await cache.prepared(request, context)
      if (prepared === undefined) return undefined
      const { operation } = prepared
      const variables = coerceVariables(schema, operation, request.variables).coerced
      if (variables === undefined) return undefined
      // Pricing and running a query with long variables takes as long as coercing them.
      await passTurn(context.share.client)
      // A condition of null is an error of the object around it.
      if (prepared.conditionNames.some((name) => variables[name] === null)) return undefined
      const compiled = cache.compiled(prepared, variables)
      if (compiled === undefined) return undefined
      await restOfLong(request, context)
      const cost = costOf(schema, prepared, request, context)
      if (context.observation !== undefined) context.observation.cost = cost
      if (cost > maxOperationCost) return undefined
      noteOperation(context.observation, operation)
      return readyQuery({ compiled, variables, context, cost, name: operation.name?.value })
    },
  }
}

function createCache(deps: PreparedQueryDeps) {
  const { schema } = deps
  const cache = new LRUCache<string, Prepared>({
    maxSize: maxCachedBytes,
    sizeCalculation: sizeOf,
  })
  const repeated = repeatCache(cache)

  /** Queries that are being prepared: equal requests share the work. */
  const preparing = new Map<string, Promise<Prepared | undefined>>()

  async function prepared(
    request: QueryRequest,
    context: GatewayContext,
  ): Promise<Prepared | undefined> {
    const { operationName, query } = request
    const key =
      operationName === undefined ? ` ${query}` : `${JSON.stringify(operationName)} ${query}`
    const known = cache.get(key) ?? preparing.get(key)
    if (known !== undefined) return known
    const making = make(key, request, context).finally(() => preparing.delete(key))
    preparing.set(key, making)
    return making
  }

  async function make(
    key: string,
    request: QueryRequest,
    context: GatewayContext,
  ): Promise<Prepared | undefined> {
    const document = await validDocument(deps, request, context)
    const operation = document && getOperationAST(document, request.operationName)
    if (!document || operation?.operation !== 'query') return undefined
    const conditionNames = conditionsIn(document)
    if (conditionNames.length > maxConditions) return undefined
    const made: Prepared = {
      key,
      document,
      operation,
      conditionNames,
      compiled: new Map(),
      costs: new Map(),
    }
    repeated.add(key, made)
    return made
  }

  function compiled(query: Prepared, variables: Variables): CompiledQuery | undefined {
    const { conditions, form } = conditionsOf(query, variables)
    if (!query.compiled.has(form)) {
      const { document, operation } = query
      query.compiled.set(form, compile(deps, { schema, document, operation, conditions }))
      // The entry is larger now. The cache computes the size of a new object only.
      if (cache.has(query.key)) cache.set(query.key, { ...query })
    }
    return query.compiled.get(form)
  }

  return { prepared, compiled }
}

/** A compiled query with its request. */
interface Execution extends Pick<ReadyQuery, 'cost' | 'name'> {
  readonly compiled: CompiledQuery
  readonly variables: Variables
  readonly context: GatewayContext
}

function readyQuery({ compiled, variables, context, cost, name }: Execution): ReadyQuery {
  const { dependsOnLog } = compiled
  let tracked: TrackedContext | undefined
  return {
    cost,
    name,
    run: () =>
      isOneRead(dependsOnLog, variables)
        ? compiled.run(withMeteredServices(context), variables)
        : atSnapshot(context, (asOf) => {
            tracked = trackContext(asOf)
            return compiled.run(tracked.context, variables)
          }),
    validity: () => tracked?.validity() ?? 'NOT',
    version: dependsOnLog && (() => versionOf(dependsOnLog, variables, context)),
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

/** Whether a query is one read: it selects only a page of the updates of an address, and no bound of the page has to be read. */
function isOneRead(dependsOnLog: LogDependence | undefined, variables: Variables): boolean {
  if (dependsOnLog === undefined) return false
  const [list, ...others] = listsOf(dependsOnLog, variables)
  if (list?.address == null || others.length > 0) return false
  const { startMilestoneIndex, fromMilestone, toMilestone, after, before } = list
  const named = [startMilestoneIndex, fromMilestone, toMilestone, after && before]
  return named.every((bound) => bound == null)
}

/** Returns the arguments of the lists of updates, as the schema coerced them. */
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

/** Whether a list depends on the tip: a milestone or cursor is checked against the whole log, and a list without address is that log. */
function isBounded({ address, class: _class, ...bounds }: ListArguments): boolean {
  const { startMilestoneIndex, fromMilestone, toMilestone, after, before } = bounds
  const named = [startMilestoneIndex, fromMilestone, toMilestone, after, before]
  return address == null || named.some((bound) => bound != null)
}

interface Prepared {
  readonly key: string
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** Names of the variables in `@skip` and `@include`. */
  readonly conditionNames: readonly string[]
  /** Compiled queries by the values of those variables. */
  readonly compiled: Map<string, CompiledQuery | undefined>
  /** Costs by the values of variables, where texts are represented by their lengths: page sizes and text lengths determine the cost. */
  readonly costs: Map<string, number>
}

function costOf(
  schema: GraphQLSchema,
  { document, operation, costs }: Prepared,
  { operationName, variables }: QueryRequest,
  contextValue: GatewayContext,
): number {
  // Variables that the operation does not define are left out: a client may send very many of them.
  const key = (operation.variableDefinitions ?? [])
    .map(({ variable }) => priceKeyOf(variables[variable.name.value]))
    .join()
  const known = costs.get(key)
  if (known !== undefined) return known
  const args = { schema, document, contextValue, operationName, variableValues: variables }
  const cost = operationCost(args) ?? 0
  if (costs.size === maxCachedCosts) costs.clear()
  if (key.length < maxCostKeyLength) costs.set(key, cost)
  return cost
}

function priceKeyOf(value: unknown): string | number {
  return typeof value === 'string' ? value.length : JSON.stringify(value)
}

const maxCachedCosts = 50
const maxCostKeyLength = 200

/** Returns the values of the conditions, and the key of the compiled query for them. */
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

/** Parses and validates a query with the document limits of all transports. Resolves to `undefined` for errors, which the server reports. */
async function validDocument(
  { graphql, schema }: PreparedQueryDeps,
  request: QueryRequest,
  context: GatewayContext,
): Promise<DocumentNode | undefined> {
  try {
    const { parse, validate } = graphql.getEnveloped(context)
    const document: DocumentNode = parse(request.query)
    if (isLong(request)) {
      for (const rules of partsOfRules) {
        await restOfLong(request, context)
        if (validate(schema, document, rules).length > 0) return undefined
      }
      noteValid(document)
      await restOfLong(request, context)
      return document
    }
    return validate(schema, document).length === 0 ? document : undefined
  } catch (failure) {
    if (failure instanceof GraphQLError) return undefined
    throw failure
  }
}

/** Yields between the steps of preparing a long document, each of which takes some milliseconds. */
async function restOfLong(request: QueryRequest, { share }: GatewayContext): Promise<void> {
  if (isLong(request)) await passTurn(share.client)
}

function isLong({ query }: QueryRequest): boolean {
  return query.length > shortDocument
}

/** Characters of a document that is prepared in one turn. */
const shortDocument = 4_096

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

/** Maximum number of condition variables. Each of them doubles the number of compiled queries. */
const maxConditions = 4

const maxCachedBytes = 16_777_216

/** Estimates bytes. Measured: a parsed document takes about 46 bytes per character, and each compiled field less than a kilobyte. */
function sizeOf({ key, compiled }: Prepared): number {
  const fields = [...compiled.values()].reduce((sum, one) => sum + (one?.size ?? 0), 0)
  return 5_000 + key.length * 50 + fields * 1_000
}
