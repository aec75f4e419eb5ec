import type { Services } from '../../service/services.ts'
import type { Lasting } from '../answer-cache.ts'
import type { Share } from '../client-shares.ts'
import type { GatewayContext } from './builder.ts'

/**
 * The context of one query, which notes what its answer depends on: the resolvers say nothing of it, so none can say it wrongly. What
 * is read of the database, and what is the same as long as the process lives, lasts until the database changes; the time lasts for its
 * second; and of everything else the next answer may be another one. The classes are whole: a new member of what they stand
 * before does not compile until it is decided here what depends on it.
 */

/** What has been noted. */
class Notes {
  lasting: Lasting = 'UNTIL_CHANGE'

  /** The time was read. */
  time(): void {
    if (this.lasting === 'UNTIL_CHANGE') this.lasting = 'UNTIL_NEXT_SECOND'
  }

  /** Something was read that may be another one with the next answer, or for another client. */
  more(): void {
    this.lasting = 'NOT'
  }
}

/** A context that notes for how long the answer lasts. */
export class NotedContext implements GatewayContext {
  readonly services: Services
  readonly share: Share
  readonly #context: GatewayContext
  readonly #notes = new Notes()

  constructor(context: GatewayContext) {
    this.#context = context
    this.services = new NotedServices(context.services, this.#notes)
    this.share = new NotedShare(context.share, this.#notes)
  }

  /** By what has been read so far. */
  get lasting(): Lasting {
    return this.#notes.lasting
  }

  /** They belong to the request, and no answer depends on them. */
  get budget(): GatewayContext['budget'] {
    return this.#context.budget
  }
  get requestId(): string {
    return this.#context.requestId
  }
  get observation(): GatewayContext['observation'] {
    return this.#context.observation
  }

  /** The same as long as the process lives. */
  get limits(): GatewayContext['limits'] {
    return this.#context.limits
  }

  get caller(): GatewayContext['caller'] {
    this.#notes.more()
    return this.#context.caller
  }
  get isStopping(): boolean {
    this.#notes.more()
    return this.#context.isStopping
  }
  quota(): ReturnType<GatewayContext['quota']> {
    this.#notes.more()
    return this.#context.quota()
  }
}

class NotedShare implements Share {
  /** In whose turns the answer is computed. */
  readonly client: string
  readonly #share: Share
  readonly #notes: Notes

  constructor(share: Share, notes: Notes) {
    this.client = share.client
    this.#share = share
    this.#notes = notes
  }

  take(cost: number): ReturnType<Share['take']> {
    return this.#rest.take(cost)
  }
  charge(cost: number): void {
    this.#rest.charge(cost)
  }
  remaining(): number {
    return this.#rest.remaining()
  }
  headers(): ReturnType<Share['headers']> {
    return this.#rest.headers()
  }

  get #rest(): Share {
    this.#notes.more()
    return this.#share
  }
}

class NotedServices implements Services {
  readonly store: Services['store']
  readonly source: Services['source']
  readonly parameters: Services['parameters']
  readonly #services: Services
  readonly #notes: Notes

  constructor(services: Services, notes: Notes) {
    this.#services = services
    this.#notes = notes
    this.store = new NotedStore(services.store, notes)
    this.source = new NotedSource(services.source, notes)
    this.parameters = services.parameters
  }

  get clock(): Services['clock'] {
    this.#notes.time()
    return this.#services.clock
  }

  /** They compute, from what they are given or from the database, the same each time. */
  get signatures(): Services['signatures'] {
    return this.#services.signatures
  }
  get stakers(): Services['stakers'] {
    return this.#services.stakers
  }
  get keptChanges(): Services['keptChanges'] {
    return this.#services.keptChanges
  }

  /** The same as long as the process lives. */
  get mayLag(): boolean {
    return this.#services.mayLag
  }
  get submissionPolicy(): Services['submissionPolicy'] {
    return this.#services.submissionPolicy
  }
  get version(): string {
    return this.#services.version
  }
  get isDevelopment(): boolean {
    return this.#services.isDevelopment
  }

  get space(): Services['space'] {
    this.#notes.more()
    return this.#services.space
  }
  get feed(): Services['feed'] {
    this.#notes.more()
    return this.#services.feed
  }
  get chainRecords(): Services['chainRecords'] {
    this.#notes.more()
    return this.#services.chainRecords
  }
  get faucet(): Services['faucet'] {
    this.#notes.more()
    return this.#services.faucet
  }
}

class NotedStore implements Pick<Services['store'], keyof Services['store']> {
  readonly read: Services['store']['read']
  readonly primary: Services['store']['primary']
  readonly snapshot: Services['store']['snapshot']
  readonly #store: Services['store']
  readonly #notes: Notes

  constructor(store: Services['store'], notes: Notes) {
    this.#store = store
    this.#notes = notes
    this.read = store.read
    this.primary = store.primary
    this.snapshot = store.snapshot
  }

  get write(): Services['store']['write'] {
    this.#notes.more()
    return this.#store.write
  }
  get replicas(): Services['store']['replicas'] {
    this.#notes.more()
    return this.#store.replicas
  }
}

type Source = Services['source']

class NotedSource implements Source {
  readonly network: Source['network']
  readonly #source: Source
  readonly #notes: Notes

  constructor(source: Source, notes: Notes) {
    this.#source = source
    this.#notes = notes
    this.network = source.network
  }

  /** The slot of this moment, and who writes: as of this second. */
  status(): ReturnType<Source['status']> {
    this.#notes.time()
    return this.#source.status()
  }

  /** That there is none stays so; what a node answers does not. */
  get node(): Source['node'] {
    const { node } = this.#source
    if (node !== undefined) this.#notes.more()
    return node
  }

  get snapshotHead(): Source['snapshotHead'] {
    return this.#rest.snapshotHead
  }
  get unspentProofs(): Source['unspentProofs'] {
    return this.#rest.unspentProofs
  }
  submit(...[block]: Parameters<Source['submit']>): ReturnType<Source['submit']> {
    return this.#rest.submit(block)
  }
  unavailable(): ReturnType<Source['unavailable']> {
    return this.#rest.unavailable()
  }
  issuance(): ReturnType<Source['issuance']> {
    return this.#rest.issuance()
  }
  issue(...[payload]: Parameters<Source['issue']>): ReturnType<Source['issue']> {
    return this.#rest.issue(payload)
  }
  waiting(): number {
    return this.#rest.waiting()
  }
  close(): Promise<void> {
    return this.#rest.close()
  }

  get #rest(): Source {
    this.#notes.more()
    return this.#source
  }
}
