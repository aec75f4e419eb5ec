import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLObjectType,
  getArgumentValues,
  locatedError,
} from 'graphql'
import { present } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { carriedTrace } from '../../lib/tracing.ts'
import { type LedgerFeedEvent, resumeCursorOf } from '../../service/feed/feed-events.ts'
import {
  type FeedSelection,
  type SharedText,
  type Sink,
  type Subscriber,
  shareLedgerUpdates,
} from '../../service/feed/follow-ledger-updates.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import { orThrow } from '../errors/errors.ts'
import { createBudget } from '../graphql/execution/budget.ts'
import { causeOf, maskErrors } from '../graphql/execution/masking.ts'
import { withMeteredServices } from '../graphql/execution/metered-services.ts'
import { coerceVariables } from '../graphql/execution/variables.ts'
import { feedSelectionOf, type LedgerFeedArguments } from '../graphql/types/feed-subscription.ts'
import { contextOf } from '../operation.ts'
import { type FeedPlan, feedPlanOf } from './feed-plan.ts'

/** Subscriptions to ledger updates. Equal subscriptions share one execution and the bytes of their events. */

/** The destination of a feed, and its start after a reconnection. */
export interface SharedFeedOptions {
  readonly sink: Sink
  /** Cursor of the last event that the client received; it overrides the arguments. */
  readonly resumeAfter?: string | undefined
  readonly log: Log
}

/** Whether an operation is a feed that can be shared. */
export function isSharedFeed({ document, operationName }: ExecutionArgs): boolean {
  return feedPlanOf(document, operationName) !== undefined
}

/** Opens the feed of an operation for which `isSharedFeed` is true. Errors are returned as the result of the operation. */
export async function openSharedFeed(
  args: ExecutionArgs,
  options: SharedFeedOptions,
): Promise<Subscriber | ExecutionResult> {
  const plan = present(feedPlanOf(args.document, args.operationName), 'a feed')
  const context = contextOf(args)
  const values = coerceVariables(args.schema, plan.operation, args.variableValues)
  if (values.errors !== undefined) return { errors: values.errors }
  try {
    const requested = selectionOf(args, plan, values.coerced)
    const { resumeAfter, sink, log } = options
    const selection = resumeAfter === undefined ? requested : resumed(requested, resumeAfter)
    const { services, caller } = context
    // The raw values, because coerced values may not be representable in JSON. An omitted variable differs from null.
    const given = args.variableValues ?? {}
    const sent = plan.variables.map((name) => (Object.hasOwn(given, name) ? [given[name]] : []))
    const key = JSON.stringify([plan.id, await caller.rights(), sent])
    const render = rendering(args, { log, isSnapshot: selection.snapshot })
    return orThrow(await shareLedgerUpdates(services, selection, { key, render, sink }))
  } catch (error) {
    const { alias, name } = plan.field
    return { errors: [locatedError(error, plan.field, [(alias ?? name).value])] }
  }
}

/** Whether `openSharedFeed` returned a feed. */
export function isSubscriber(opened: Subscriber | ExecutionResult): opened is Subscriber {
  return 'leave' in opened
}

function selectionOf(
  { schema, contextValue }: ExecutionArgs,
  { field }: FeedPlan,
  variables: Record<string, unknown>,
): FeedSelection {
  const subscription: GraphQLObjectType = present(schema.getSubscriptionType(), 'subscriptions')
  const definition = present(subscription.getFields()[field.name.value], 'the field of a feed')
  const values = getArgumentValues(definition, field, variables)
  const { services } = contextOf({ contextValue })
  // `getArgumentValues` has just checked the values against exactly these types.
  return feedSelectionOf(services, values as unknown as LedgerFeedArguments)
}

/** Replaces the start by a cursor. A subscriber that resumes has already received the snapshot. */
function resumed({ afterMilestone: _, ...selection }: FeedSelection, after: string): FeedSelection {
  return { ...selection, after, snapshot: false }
}

/** Returns a function that executes the operation on an event and serialises the result. */
function rendering(
  args: ExecutionArgs,
  { log, isSnapshot }: { log: Log; isSnapshot: boolean | undefined },
): (event: LedgerFeedEvent) => Promise<SharedText> {
  const { requestId } = contextOf(args)
  return async (event) => {
    // Each event has its own budget: several events may be rendered concurrently for subscribers at different positions.
    const contextValue = withMeteredServices({ ...contextOf(args), budget: createBudget() })
    const { data, errors } = await execute({ ...args, contextValue, rootValue: event })
    const away = errors?.map(causeOf).find((cause) => storeAwayOf(cause) !== undefined)
    // An event without its fields would be lost, so the feed retries until the database is reachable.
    if (away !== undefined) throw away
    const masked = errors && maskErrors({ log, requestId }, errors).map((error) => error.toJSON())
    // A subscriber that is cut during a snapshot starts the snapshot again, also when it has received a notice. After the snapshot it
    // resumes after the event before the notice, which has the same cursor.
    const moves = event.kind !== 'FeedOpened' && event.kind !== 'FeedNotice'
    const isResumable = moves || isSnapshot !== true
    const answer = masked ? { data, errors: masked } : { data }
    // The trace of the event; for new rows it continues the trace of their commit. All subscribers of the event share it.
    const extensions = carriedTrace()
    return {
      text: JSON.stringify('traceparent' in extensions ? { ...answer, extensions } : answer),
      cursor: isResumable ? resumeCursorOf(event) : undefined,
    }
  }
}
