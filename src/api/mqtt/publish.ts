import { setTimeout as delay } from 'node:timers/promises'
import type { Aedes } from 'aedes'
import type { Log } from '../../lib/log.ts'
import { createLedgerEventReader, type LedgerEvent } from '../../service/feed/ledger-events.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import type { Services } from '../../service/services.ts'
import type { TopicInterests } from './interests.ts'
import { type Message, messagesOf } from './messages.ts'
import { rawSuffix } from './topics.ts'

/** Publishes what happens, as far as somebody listens. */

/** What publishing needs. */
export interface PublishingDeps {
  readonly services: Services
  readonly interests: TopicInterests
  readonly broker: Pick<Aedes, 'publish'>
  readonly log: Log
}

/** Publishing that goes on. */
export interface Publishing {
  stop(): Promise<void>
}

/** How long something may go unnoticed, in milliseconds. */
const lookEveryMs = 100

/** Begins. While the database is away nothing is passed over: what was not told yet is told when it is back. */
export function startPublishing(deps: PublishingDeps): Publishing {
  const { services, interests, log } = deps
  const stopped = new AbortController()
  const reader = createLedgerEventReader(services)
  let untold: LedgerEvent[] = []

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        await delay(lookEveryMs, undefined, { signal: stopped.signal })
        if (untold.length === 0) untold = [...(await reader.look(interests.current()))]
        for (let next = untold[0]; next !== undefined; next = untold[0]) {
          for await (const message of messagesOf(services, next, interests)) publish(deps, message)
          untold.shift()
        }
      } catch (error) {
        // Aborting the pause throws too, and is no failure.
        if (stopped.signal.aborted || storeAwayOf(error) !== undefined) continue
        log.error('mqtt-failed', { error })
        // It would fail again, and hold up all behind it.
        untold.shift()
      }
    }
  }

  const running = run()
  return {
    stop: async () => {
      stopped.abort()
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
    // It calls back when all have been written to; nobody here waits for that.
    broker.publish(packet, () => {})
  }
}
