/** The node API has no route for this, so that upstream mode does not offer it. `what` names it in words. */
export interface NotOffered {
  readonly code: 'NOT_OFFERED_BY_NODES'
  readonly what: string
}
