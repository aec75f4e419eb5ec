import type { Aedes } from 'aedes'
import type { Log } from '../../lib/log.ts'
import { createSignal } from '../../lib/signal.ts'
import { passTurn } from '../../lib/turns.ts'
import {
  createLedgerEventReader,
  type EarlyBlocks,
  type LedgerEvent,
} from '../../service/feed/ledger-events.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import type { Services } from '../../service/services.ts'
import type { TopicInterests } from './interests.ts'
import { type Message, messagesOf } from './messages.ts'
import { rawSuffix, type Topic } from './topics.ts'

/** Publishes ledger events on the topics that have subscribers. */

export interface PublishingDeps {
  readonly services: Services
  readonly interests: TopicInterests
  readonly broker: Pick<Aedes, 'publish'>
  readonly log: Log
}

/** A running publication. */
export interface Publishing {
  /** Resolves when every later event of a new topic will be published: after the first read that follows the call. */
  begin(topic: Topic): Promise<void>
  stop(): Promise<void>
}

/** Pause after each read, in milliseconds. One read then finds all events of the pause. */
const pauseMs = 50

/** Starts publishing. While the database is unreachable, no event is skipped: pending events are published afterwards. */
export function startPublishing(deps: PublishingDeps): Publishing {
  const { services, interests, log } = deps
  const { tail, blocks, tickMs } = services.feed
  const stopped = new AbortController()
  const reader = createLedgerEventReader(services)
  let { era } = tail.tip()
  const moved = createSignal()
  const stopWatchingTip = tail.watchTip(moved.notify)
  const stopWatchingBlocks = blocks.add(() => {
    if (interests.current().blocks) moved.notify()
  })
  const subscribed = createSignal()
  /** The topics whose events begin with the next read. */
  const beginning: { readonly topic: Topic; readonly resolve: () => void }[] = []
  let unpublished: LedgerEvent[] = []

  function begin(topic: Topic): Promise<void> {
    return new Promise((resolve) => {
      beginning.push({ topic, resolve })
      subscribed.notify()
      moved.notify()
    })
  }

  async function nextEvents(): Promise<readonly LedgerEvent[]> {
    const now = tail.tip().era
    if (now !== era) {
      // An older copy of the database gives new blocks the positions of those that it lacks.
      reader.restart()
      era = now
    }
    const begun = [...beginning]
    const events = await reader.next(interests.current(), earlyBlocks(begun))
    for (const { resolve } of beginning.splice(0, begun.length)) resolve()
    return events
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      // On a shared database another process may book blocks without a notification to this one: the tick finds them.
      await moved.wait({ ms: tickMs, signal: stopped.signal })
      try {
        if (unpublished.length === 0) unpublished = [...(await nextEvents())]
        const isNews = unpublished.length > 0
        for (let next = unpublished[0]; next !== undefined; next = unpublished[0]) {
          for await (const message of messagesOf(services, next, interests)) publish(deps, message)
          unpublished.shift()
          await passTurn()
        }
        // A read returns a limited number of events, and there may be more.
        if (isNews) moved.notify()
      } catch (error) {
        if (storeAwayOf(error) !== undefined) continue
        log.error('mqtt-failed', { error })
        // The event would fail again and delay all later events.
        unpublished.shift()
        moved.notify()
      }
      await subscribed.wait({ ms: pauseMs, signal: stopped.signal })
    }
  }

  const running = run()
  return {
    begin,
    stop: async () => {
      stopped.abort()
      stopWatchingTip()
      stopWatchingBlocks()
      await running
    },
  }
}

/** The blocks that a new topic is about. They may have arrived before the first read. */
function earlyBlocks(begun: readonly { readonly topic: Topic }[]): EarlyBlocks {
  const topics = begun.map(({ topic }) => topic)
  return {
    blockIds: topics.flatMap((topic) => ('blockId' in topic ? [topic.blockId] : [])),
    transactionIds: topics.flatMap((topic) =>
      'transactionId' in topic ? [topic.transactionId] : [],
    ),
  }
}

function publish({ interests, broker }: PublishingDeps, { topics, json, bytes }: Message): void {
  const texts = topics.filter(interests.has)
  const raws = topics.map((topic) => topic + rawSuffix).filter(interests.has)
  if (texts.length > 0) send(broker, texts, Buffer.from(json()))
  if (raws.length > 0) send(broker, raws, Buffer.from(bytes()))
}

function send(broker: Pick<Aedes, 'publish'>, topics: readonly string[], payload: Buffer): void {
  for (const topic of topics) {
    const packet = { cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false } as const
    // The callback runs when the packet was written to all subscribers; nothing depends on that.
    broker.publish(packet, () => {})
  }
}
