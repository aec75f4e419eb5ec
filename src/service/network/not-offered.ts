/** Nodes have no route for this, so that in front of one it cannot be told; `what` is in words. */
export interface NotOffered {
  readonly code: 'NOT_OFFERED_BY_NODES'
  readonly what: string
}
