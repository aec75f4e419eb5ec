import type { GraphQLError } from 'graphql'
import type { AnswerTooLarge, ClientLeft } from '../api-errors.ts'
import { toGraphQL } from '../errors.ts'

/** What an operation has used while it runs, and whether it has to end: counted where its fields are resolved (`meter.ts`). */

/** The longest answer, in bytes of JSON: 16 MiB. */
export const maxAnswerBytes = 16_777_216
/** The most fields of an answer: what an operation may cost, were each of them to cost one. */
export const maxAnswerFields = 500_000

/** Of one operation. */
export interface Budget {
  /** Fires when the operation has to end. Its reason is the error that the operation ends with. */
  readonly signal: AbortSignal
  /** Throws that error when the operation has to end. */
  check(): void
  /** Counts fields, by default one, and their bytes; throws as `check` does. */
  spend(bytes: number, fields?: number): void
  /** Begins the next answer: every event of a subscription is one. */
  renew(): void
  /** The client has left. */
  leave(): void
  /** What the answer has used so far. */
  readonly spent: { readonly fields: number; readonly bytes: number }
}

/** Nothing used yet. */
export function createBudget(): Budget {
  let controller = new AbortController()
  let reason: GraphQLError | undefined
  let bytesSpent = 0
  let fieldsSpent = 0

  function end(error: AnswerTooLarge | ClientLeft): void {
    if (reason !== undefined) return
    reason = toGraphQL(error)
    controller.abort(reason)
  }

  function check(): void {
    if (reason !== undefined) throw reason
  }

  return {
    get signal() {
      return controller.signal
    },
    check,
    spend: (bytes, fields = 1) => {
      fieldsSpent += fields
      bytesSpent += bytes
      if (bytesSpent > maxAnswerBytes) {
        end({ code: 'ANSWER_TOO_LARGE', unit: 'bytes', limit: maxAnswerBytes })
      } else if (fieldsSpent > maxAnswerFields) {
        end({ code: 'ANSWER_TOO_LARGE', unit: 'fields', limit: maxAnswerFields })
      }
      check()
    },
    renew: () => {
      bytesSpent = 0
      fieldsSpent = 0
      if (reason?.extensions.code !== 'ANSWER_TOO_LARGE') return
      reason = undefined
      controller = new AbortController()
    },
    leave: () => end({ code: 'CLIENT_LEFT' }),
    get spent() {
      return { fields: fieldsSpent, bytes: bytesSpent }
    },
  }
}
