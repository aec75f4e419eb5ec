import type { OutputId, SlotIndex } from '../protocol/primitives.ts'

/** A response of a node that arrived in time and cannot be read. */
export interface AnswerUnreadable {
  readonly code: 'NODE_ANSWER_UNREADABLE'
  /** The number of the node in the list, from 1. */
  readonly node: number
  readonly path: string
  /** The slot of the request, if it was about a slot. */
  readonly slot: SlotIndex | undefined
  /** The output of the request or of the unreadable part, if there is one. */
  readonly outputId: OutputId | undefined
  /** Description of the fault and its place. */
  readonly reason: string
}
