import type { GraphQLError } from 'graphql'
import type { AnswerTooLarge, ClientLeft, OperationCostExceeded } from '../api-errors.ts'
import { toGraphQL } from '../errors.ts'
import { bytesOfUnit, fieldWork, maxOperationCost, operationCostBase } from './prices.ts'

/** What an operation has used while it runs, and whether it has to end: counted where its fields are resolved (`meter.ts`). */

/** The longest answer, in bytes of JSON: 16 MiB. */
export const maxAnswerBytes = 16_777_216
/** The most fields of an answer: what an operation may cost, were each of them to cost one. */
export const maxAnswerFields = 500_000

/** What an operation has used. */
export interface Spent {
  readonly fields: number
  readonly bytes: number
  /** In the units of `prices.ts`. */
  readonly cost: number
}

/** Of one operation. */
export interface Budget {
  /** Fires when the operation has to end. Its reason is the error that the operation ends with. */
  readonly signal: AbortSignal
  /** Throws that error when the operation has to end. */
  check(): void
  /** Counts fields, by default one, and their bytes; throws as `check` does. */
  spend(bytes: number, fields?: number): void
  /** Counts work in the units of `prices.ts`; throws as `check` does. */
  compute(units: number): void
  /** Begins the next answer: every event of a subscription is one. */
  renew(): void
  /** The client has left. */
  leave(): void
  /** What the answer has used so far. */
  readonly spent: Spent
}

/** Nothing used yet. */
export function createBudget(): Budget {
  let controller = new AbortController()
  let reason: GraphQLError | undefined
  let bytesSpent = 0
  let fieldsSpent = 0
  let workSpent = 0

  function cost(): number {
    return operationCostBase + fieldsSpent * fieldWork + bytesSpent / bytesOfUnit + workSpent
  }

  function end(error: AnswerTooLarge | ClientLeft | OperationCostExceeded): void {
    if (reason !== undefined) return
    reason = toGraphQL(error)
    controller.abort(reason)
  }

  function check(): void {
    if (reason !== undefined) throw reason
  }

  /** Ends it where it has spent too much of something. */
  function settle(): void {
    if (bytesSpent > maxAnswerBytes) {
      end({ code: 'ANSWER_TOO_LARGE', unit: 'bytes', limit: maxAnswerBytes })
    } else if (fieldsSpent > maxAnswerFields) {
      end({ code: 'ANSWER_TOO_LARGE', unit: 'fields', limit: maxAnswerFields })
    } else if (cost() > maxOperationCost) {
      end({ code: 'OPERATION_COST_EXCEEDED', limit: maxOperationCost })
    }
    check()
  }

  return {
    get signal() {
      return controller.signal
    },
    check,
    compute: (units) => {
      workSpent += units
      settle()
    },
    spend: (bytes, fields = 1) => {
      fieldsSpent += fields
      bytesSpent += bytes
      settle()
    },
    renew: () => {
      bytesSpent = 0
      fieldsSpent = 0
      workSpent = 0
      if (reason === undefined || reason.extensions.code === 'CLIENT_LEFT') return
      reason = undefined
      controller = new AbortController()
    },
    leave: () => end({ code: 'CLIENT_LEFT' }),
    get spent() {
      return { fields: fieldsSpent, bytes: bytesSpent, cost: Math.ceil(cost()) }
    },
  }
}
