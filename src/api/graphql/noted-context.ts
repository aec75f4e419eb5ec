import type { Services } from '../../service/services.ts'
import type { Lasting } from '../answer-cache.ts'
import type { Share } from '../client-shares.ts'
import type { GatewayContext } from './builder.ts'

/**
 * The context of one query, which notes what its answer depends on: the resolvers declare nothing, so none can declare it wrongly. What
 * is read of the database lasts until that changes, the time lasts for its second, and everything else may differ with the next answer.
 */

/** A context, and for how long what was computed with it lasts. */
export interface NotedContext {
  readonly context: GatewayContext
  /** By what has been read so far. */
  lasting(): Lasting
}

/**
 * What an answer lasts that reads a member: `UNTIL_CHANGE` for the database, for what computes the same each time, for what is the same
 * as long as the process lives, and for what belongs to the request alone. A new member does not compile until it has its row.
 */
type Rows<T> = { readonly [K in keyof Required<T>]: Lasting }

const ofContext: Rows<GatewayContext> = {
  services: 'UNTIL_CHANGE',
  share: 'UNTIL_CHANGE',
  budget: 'UNTIL_CHANGE',
  requestId: 'UNTIL_CHANGE',
  observation: 'UNTIL_CHANGE',
  limits: 'UNTIL_CHANGE',
  caller: 'NOT',
  isStopping: 'NOT',
  quota: 'NOT',
}

const ofShare: Rows<Share> = {
  // In whose turns the answer is computed.
  client: 'UNTIL_CHANGE',
  take: 'NOT',
  charge: 'NOT',
  remaining: 'NOT',
  headers: 'NOT',
}

const ofServices: Rows<Services> = {
  store: 'UNTIL_CHANGE',
  source: 'UNTIL_CHANGE',
  parameters: 'UNTIL_CHANGE',
  signatures: 'UNTIL_CHANGE',
  stakers: 'UNTIL_CHANGE',
  keptChanges: 'UNTIL_CHANGE',
  mayLag: 'UNTIL_CHANGE',
  submissionPolicy: 'UNTIL_CHANGE',
  version: 'UNTIL_CHANGE',
  isDevelopment: 'UNTIL_CHANGE',
  clock: 'UNTIL_NEXT_SECOND',
  space: 'NOT',
  feed: 'NOT',
  chainRecords: 'NOT',
  faucet: 'NOT',
}

const ofStore: Rows<Services['store']> = {
  read: 'UNTIL_CHANGE',
  primary: 'UNTIL_CHANGE',
  snapshot: 'UNTIL_CHANGE',
  write: 'NOT',
  replicas: 'NOT',
  isShared: 'UNTIL_CHANGE',
}

const ofSource: Rows<Services['source']> = {
  network: 'UNTIL_CHANGE',
  // The slot of this moment, and who writes.
  status: 'UNTIL_NEXT_SECOND',
  // That there is none stays so; `noteContext` notes one that is there.
  node: 'UNTIL_CHANGE',
  snapshotHead: 'NOT',
  unspentProofs: 'NOT',
  submit: 'NOT',
  unavailable: 'NOT',
  issuance: 'NOT',
  issue: 'NOT',
  waiting: 'NOT',
  close: 'NOT',
}

/** Nothing is noted yet. */
export function noteContext(given: GatewayContext): NotedContext {
  let lasting: Lasting = 'UNTIL_CHANGE'

  /** By a proxy, for a query reads few of the members; `parts` are members that note by themselves. */
  function noted<T extends object>(target: T, rows: Rows<T>, parts: Partial<T> = {}): T {
    return new Proxy(target, {
      get: (_target, name) => {
        const member = rows[name as keyof T] ?? 'NOT'
        if (member === 'NOT') lasting = 'NOT'
        else if (member === 'UNTIL_NEXT_SECOND' && lasting !== 'NOT') lasting = member
        return Reflect.get(name in parts ? parts : target, name)
      },
    })
  }

  const { source, store } = given.services
  const sourceRows = source.node === undefined ? ofSource : { ...ofSource, node: 'NOT' as const }
  const services = noted(given.services, ofServices, {
    store: noted(store, ofStore),
    source: noted(source, sourceRows),
  })
  const share = noted(given.share, ofShare)
  return {
    context: noted(given, ofContext, { services, share }),
    lasting: () => lasting,
  }
}
