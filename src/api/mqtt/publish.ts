import type { Aedes } from 'aedes'
import type { Log } from '../../lib/log.ts'
import { createSignal } from '../../lib/signal.ts'
import { createLedgerEventReader, type LedgerEvent } from '../../service/feed/ledger-events.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import type { Services } from '../../service/services.ts'
import type { TopicInterests } from './interests.ts'
import { type Message, messagesOf } from './messages.ts'
import { rawSuffix } from './topics.ts'

/** Publishes the events of the ledger on the topics that have subscribers. */

export interface PublishingDeps {
  readonly services: Services
  readonly interests: TopicInterests
  readonly broker: Pick<Aedes, 'publish'>
  readonly log: Log
}

/** Publishing under way. */
export interface Publishing {
  stop(): Promise<void>
}

/**
 * The notice of a commit comes from the log's tail. Blocks and their states have none: while a client has subscribed to some,
 * they are read once in this time, in milliseconds.
 */
const blocksEveryMs = 100

/** Begins. While the database is away no event is skipped: what was not published is published when it is back. */
export function startPublishing(deps: PublishingDeps): Publishing {
  const { services, interests, log } = deps
  const { tail, tickMs } = services.feed
  const stopped = new AbortController()
  const reader = createLedgerEventReader(services)
  const moved = createSignal()
  const stopWatching = tail.watchTip(moved.notify)
  // The first read after a subscription is where its events begin.
  interests.onChange(moved.notify)
  let unpublished: LedgerEvent[] = []

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      const ms = interests.current().blocks ? Math.min(blocksEveryMs, tickMs) : tickMs
      await moved.wait({ ms, signal: stopped.signal })
      try {
        if (unpublished.length === 0) unpublished = [...(await reader.look(interests.current()))]
        for (let next = unpublished[0]; next !== undefined; next = unpublished[0]) {
          for await (const message of messagesOf(services, next, interests)) publish(deps, message)
          unpublished.shift()
        }
      } catch (error) {
        if (storeAwayOf(error) !== undefined) continue
        log.error('mqtt-failed', { error })
        // It would fail again, and delay all after it.
        unpublished.shift()
      }
    }
  }

  const running = run()
  return {
    stop: async () => {
      stopped.abort()
      stopWatching()
      await running
    },
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
    // It calls back when the packet has been written to all subscribers; nothing depends on that.
    broker.publish(packet, () => {})
  }
}
