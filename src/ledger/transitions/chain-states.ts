import type { Output } from '../../protocol/outputs.ts'

/** The states of a chain before and after a transaction. */

/** A chain that changes: its spent state, and its new state. */
export interface Change<Before extends Output, After extends Output = Before> {
  readonly input: number
  readonly before: Before
  readonly output: number
  readonly after: After
}

/** A chain that begins with the transaction. */
export interface Beginning<State extends Output> {
  readonly output: number
  readonly state: State
}

/** A chain that ends with the transaction. */
export interface End<State extends Output> {
  readonly input: number
  readonly state: State
}
