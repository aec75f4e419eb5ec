import type { Interests } from '../../service/feed/ledger-events.ts'
import { anyCondition, parseTopic, type Topic } from './topics.ts'

/** Counts the subscriptions of all clients, so that only events with subscribers are read and printed. */

/** The topics that have subscribers. */
export interface TopicInterests {
  add(text: string): void
  remove(text: string): void
  /** Whether a message on this topic has a subscriber. */
  has(topic: string): boolean
  /** Returns the kinds of events that have subscribers. */
  current(): Interests
}

/** Creates an empty count. */
export function createInterests(): TopicInterests {
  const countByTopic = new Map<string, number>()
  const countByKind = new Map<Topic['kind'], number>()

  function change(text: string, by: 1 | -1): void {
    const topic = parseTopic(text)
    if (topic === undefined) return
    changeCount(countByTopic, text, by)
    changeCount(countByKind, topic.kind, by)
  }

  function wants(...kinds: readonly Topic['kind'][]): boolean {
    return kinds.some((kind) => countByKind.has(kind))
  }

  return {
    add: (text) => change(text, 1),
    remove: (text) => change(text, -1),
    has: (topic) => {
      if (countByTopic.has(topic)) return true
      const [outputs, unlock, , ...rest] = topic.split('/')
      if (unlock !== 'unlock') return false
      return countByTopic.has([outputs, unlock, anyCondition, ...rest].join('/'))
    },
    current: () => ({
      slots: wants('slots'),
      // Transactions and outputs change their state together with the blocks that carry them.
      blocks: wants('blocks', 'block', 'transaction', 'included-block', 'output', 'outputs'),
      outputs: wants('output', 'outputs'),
    }),
  }
}

function changeCount<K>(counts: Map<K, number>, key: K, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
