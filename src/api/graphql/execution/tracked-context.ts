import type { Services } from '../../../service/services.ts'
import type { Share } from '../../clients/client-shares.ts'
import type { Validity } from '../../response-cache.ts'
import type { GatewayContext } from '../builder.ts'

/**
 * The context of one query, which records the data that its response depends on. Resolvers declare nothing, so no declaration can be
 * wrong. Data of the database is valid until the database changes, the time is valid for its second, and everything else is not cached.
 */

/** A context that records how long a response computed with it is valid. */
export interface TrackedContext {
  readonly context: GatewayContext
  /** Returns the validity by the members that were read so far. */
  validity(): Validity
}

/**
 * The validity of a response that reads a member: `UNTIL_CHANGE` for the database, for pure computations, for constants of the process,
 * and for members that belong to the request alone. A new member does not compile until it has a row.
 */
type Rows<T> = { readonly [K in keyof Required<T>]: Validity }

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
  // Identifies the client in whose turns the response is computed.
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
  changeCache: 'UNTIL_CHANGE',
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
  changes: 'UNTIL_CHANGE',
}

const ofSource: Rows<Services['source']> = {
  network: 'UNTIL_CHANGE',
  // The current slot, and the writer.
  status: 'UNTIL_NEXT_SECOND',
  // Constant if there is no node. `trackContext` handles a node that exists.
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

/** Wraps the context of a query. */
export function trackContext(given: GatewayContext): TrackedContext {
  let validity: Validity = 'UNTIL_CHANGE'

  /** Wraps an object in a proxy, because a query reads few of its members. `parts` are members that are wrapped already. */
  function tracked<T extends object>(target: T, rows: Rows<T>, parts: Partial<T> = {}): T {
    return new Proxy(target, {
      get: (_target, name) => {
        const member = rows[name as keyof T] ?? 'NOT'
        if (member === 'NOT') validity = 'NOT'
        else if (member === 'UNTIL_NEXT_SECOND' && validity !== 'NOT') validity = member
        return Reflect.get(name in parts ? parts : target, name)
      },
    })
  }

  const { source, store } = given.services
  const sourceRows = source.node === undefined ? ofSource : { ...ofSource, node: 'NOT' as const }
  const services = tracked(given.services, ofServices, {
    store: tracked(store, ofStore),
    source: tracked(source, sourceRows),
  })
  const share = tracked(given.share, ofShare)
  return {
    context: tracked(given, ofContext, { services, share }),
    validity: () => validity,
  }
}
