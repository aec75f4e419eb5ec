import type { Interests } from '../../service/feed/ledger-events.ts'
import { anyCondition, parseTopic, type Topic } from './topics.ts'

/** What all clients together have asked for: nothing is read or put together that nobody listens to. */

/** The topics that somebody listens to. */
export interface TopicInterests {
  add(text: string): void
  remove(text: string): void
  /** Whether a publication on this topic reaches anybody. */
  has(topic: string): boolean
  /** Of what news is needed. */
  current(): Interests
}

/** Nobody listens yet. */
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
      // Transactions and outputs come further with the blocks that carry them.
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
