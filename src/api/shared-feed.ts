import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLObjectType,
  getArgumentValues,
  getVariableValues,
  locatedError,
} from 'graphql'
import { present } from '../lib/assert.ts'
import type { Log } from '../lib/log.ts'
import { carriedTrace } from '../lib/tracing.ts'
import { type LedgerFeedEvent, resumeCursorOf } from '../service/feed/feed-events.ts'
import {
  type FeedSelection,
  type SharedText,
  type Sink,
  type Subscriber,
  shareLedgerUpdates,
} from '../service/feed/follow-ledger-updates.ts'
import { storeAwayOf } from '../service/network/database-away.ts'
import { orThrow } from './errors.ts'
import { type FeedPlan, feedPlanOf } from './feed-plan.ts'
import { createBudget } from './graphql/budget.ts'
import { feedQuestionOf, type LedgerFeedArguments } from './graphql/feed-subscription.ts'
import { causeOf, maskErrors } from './graphql/masking.ts'
import { withMeteredServices } from './graphql/metered-services.ts'
import { contextOf } from './operation.ts'

/** A subscription to ledger updates that shares its execution, and the bytes of its events, with all that ask the same. */

/** Where it goes, and where it begins when the client comes back. */
export interface SharedFeedOptions {
  readonly sink: Sink
  /** The last event that the client has; it wins over the arguments. */
  readonly resumeAfter?: string | undefined
  readonly log: Log
}

/** Whether an operation is such a subscription. */
export function isSharedFeed({ document, operationName }: ExecutionArgs): boolean {
  return feedPlanOf(document, operationName) !== undefined
}

/** Opens the feed of an operation that is one; errors come as the result that the operation then has. */
export async function openSharedFeed(
  args: ExecutionArgs,
  options: SharedFeedOptions,
): Promise<Subscriber | ExecutionResult> {
  const plan = present(feedPlanOf(args.document, args.operationName), 'a feed')
  const context = contextOf(args)
  const values = variablesOf(args, plan)
  if ('errors' in values) return { errors: values.errors }
  try {
    const asked = questionOf(args, plan, values.coerced)
    const { resumeAfter, sink, log } = options
    const question = resumeAfter === undefined ? asked : resumed(asked, resumeAfter)
    const { services, caller } = context
    // As they were sent, for coerced ones may hold what JSON does not know; what was left out is another thing than null.
    const given = args.variableValues ?? {}
    const sent = plan.variables.map((name) => (Object.hasOwn(given, name) ? [given[name]] : []))
    const key = JSON.stringify([plan.id, await caller.rights(), sent])
    const render = rendering(args, { log, isSnapshot: question.snapshot })
    return orThrow(await shareLedgerUpdates(services, question, { key, render, sink }))
  } catch (error) {
    const { alias, name } = plan.field
    return { errors: [locatedError(error, plan.field, [(alias ?? name).value])] }
  }
}

/** Whether opening gave a feed. */
export function isSubscriber(opened: Subscriber | ExecutionResult): opened is Subscriber {
  return 'leave' in opened
}

function variablesOf({ schema, variableValues }: ExecutionArgs, { operation }: FeedPlan) {
  return getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 50,
  })
}

function questionOf(
  { schema, contextValue }: ExecutionArgs,
  { field }: FeedPlan,
  variables: Record<string, unknown>,
): FeedSelection {
  const subscription: GraphQLObjectType = present(schema.getSubscriptionType(), 'subscriptions')
  const definition = present(subscription.getFields()[field.name.value], 'the field of a feed')
  const values = getArgumentValues(definition, field, variables)
  const { services } = contextOf({ contextValue })
  // The schema has just checked them against exactly these types.
  return feedQuestionOf(services, values as unknown as LedgerFeedArguments)
}

/** A subscriber that resumes has received the snapshot, and is past the beginning. */
function resumed({ afterMilestone: _, ...question }: FeedSelection, after: string): FeedSelection {
  return { ...question, after, snapshot: false }
}

/** Executes the operation on an event, and serialises the result. */
function rendering(
  args: ExecutionArgs,
  { log, isSnapshot }: { log: Log; isSnapshot: boolean | undefined },
): (event: LedgerFeedEvent) => Promise<SharedText> {
  const { requestId } = contextOf(args)
  return async (event) => {
    // Each event is an answer of its own, and several may be rendered at once for subscribers at different positions.
    const contextValue = withMeteredServices({ ...contextOf(args), budget: createBudget() })
    const { data, errors } = await execute({ ...args, contextValue, rootValue: event })
    const away = errors?.map(causeOf).find((cause) => storeAwayOf(cause) !== undefined)
    // An event without its fields would be lost: the feed retries until the database answers.
    if (away !== undefined) throw away
    const masked = errors && maskErrors({ log, requestId }, errors).map((error) => error.toJSON())
    // A subscriber cut before the end of a snapshot begins with it again.
    const isResumable = !(isSnapshot && event.kind === 'FeedOpened')
    const answer = masked ? { data, errors: masked } : { data }
    // What the event is sent in: for new rows it goes on from their commit. All subscribers of the event share it.
    const extensions = carriedTrace()
    return {
      text: JSON.stringify('traceparent' in extensions ? { ...answer, extensions } : answer),
      cursor: isResumable ? resumeCursorOf(event) : undefined,
    }
  }
}
