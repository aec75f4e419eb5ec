import { setTimeout as delay } from 'node:timers/promises'
import type { Aedes } from 'aedes'
import type { Log } from '../../lib/log.ts'
import { createNewsReader } from '../../service/ledger-news.ts'
import type { Services } from '../../service/services.ts'
import { storeAwayOf } from '../../service/store-away.ts'
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

/** Begins. A look that fails is told in the log, and the next one goes on from where the last good one ended. */
export function startPublishing(deps: PublishingDeps): Publishing {
  const { services, interests, log } = deps
  const stopped = new AbortController()
  const reader = createNewsReader(services)

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        await delay(lookEveryMs, undefined, { signal: stopped.signal })
        for (const news of await reader.look(interests.current())) {
          for await (const message of messagesOf(services, news, interests)) publish(deps, message)
        }
      } catch (error) {
        // Aborting the pause throws too, and is no failure.
        if (!stopped.signal.aborted && !storeAwayOf(error)) log.error('mqtt-failed', { error })
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
