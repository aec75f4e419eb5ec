import type { OutputId, SlotIndex } from '../protocol/primitives.ts'

/** An answer of a node that came in time and cannot be read. */
export interface AnswerUnreadable {
  readonly code: 'NODE_ANSWER_UNREADABLE'
  /** The number of the node in the list, from 1. */
  readonly node: number
  /** The path of the request. */
  readonly path: string
  /** The slot that the request was about, where it was about one. */
  readonly slot: SlotIndex | undefined
  /** The output that the request or the unreadable part is about, where there is one. */
  readonly outputId: OutputId | undefined
  /** What is wrong and where, in words. */
  readonly reason: string
}
