import type { GraphQLError } from 'graphql'
import { mostQueryMs, type QueryTooLong } from '../../service/network/database-away.ts'
import type {
  AnswerTooLarge,
  ClientLeft,
  LimitError,
  OperationCostExceeded,
} from '../api-errors.ts'
import { toGraphQL } from '../errors.ts'
import { bytesOfUnit, fieldWork, maxOperationCost, operationCostBase } from './prices.ts'
import type { UnderWay } from './under-way.ts'

/** What an operation has used while it runs, and whether it has to end: counted where its fields are resolved (`meter.ts`). */

/** The longest answer, in bytes of JSON: 16 MiB. */
export const maxAnswerBytes = 16_777_216
/** The most fields of an answer: what an operation may cost, were each of them to cost one. */
export const maxAnswerFields = 500_000

/** Why an operation ends before its answer. */
type Ending = AnswerTooLarge | ClientLeft | OperationCostExceeded | LimitError | QueryTooLong

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
  /** It has gone on for too long. */
  overdue(): void
  /** Counts it among those that are under way, until it is closed. */
  begin(underWay: UnderWay): void
  /** It is over, and its answer sent or dropped: it is no longer under way. */
  close(): void
  /** What the answer has used so far. */
  readonly spent: Spent
}

/** Nothing used yet. */
export function createBudget(): Budget {
  let counted: UnderWay | undefined
  let controller = new AbortController()
  let reason: GraphQLError | undefined
  let bytesSpent = 0
  let fieldsSpent = 0
  let workSpent = 0

  function cost(): number {
    return operationCostBase + fieldsSpent * fieldWork + bytesSpent / bytesOfUnit + workSpent
  }

  function end(error: Ending): void {
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
    } else if (counted !== undefined && counted.bytes > counted.limits.heldBytes) {
      end({ code: 'OPERATION_LIMIT', unit: 'bytes', limit: counted.limits.heldBytes })
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
      if (counted !== undefined) counted.bytes += bytes
      settle()
    },
    renew: () => {
      if (counted !== undefined) counted.bytes -= bytesSpent
      bytesSpent = 0
      fieldsSpent = 0
      workSpent = 0
      if (reason === undefined || reason.extensions.code === 'CLIENT_LEFT') return
      reason = undefined
      controller = new AbortController()
    },
    leave: () => end({ code: 'CLIENT_LEFT' }),
    overdue: () => end({ code: 'QUERY_TOO_LONG', limitMs: mostQueryMs }),
    begin: (underWay) => {
      if (counted !== undefined) return
      counted = underWay
      counted.operations++
    },
    close: () => {
      if (counted === undefined) return
      counted.operations--
      counted.bytes -= bytesSpent
      counted = undefined
    },
    get spent() {
      return { fields: fieldsSpent, bytes: bytesSpent, cost: Math.ceil(cost()) }
    },
  }
}
