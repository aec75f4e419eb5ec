import type { GraphQLError } from 'graphql'
import type { QueryTooLong } from '../../../service/network/database-away.ts'
import type {
  AnswerTooLarge,
  ClientLeft,
  LimitError,
  OperationCostExceeded,
} from '../../errors/api-errors.ts'
import { toGraphQL } from '../../errors/errors.ts'
import { bytesOfUnit, fieldWork, maxOperationCost, operationCostBase } from './prices.ts'
import { forgetIdle, type Held, heldBy, type RunningOperations } from './running-operations.ts'

/** The budget of an operation: what the operation has used so far, and whether it has to end. Resolvers count it (`meter.ts`). */

/** Maximum size of a response, in bytes of JSON: 16 MiB. */
export const maxAnswerBytes = 16_777_216
/** Maximum number of fields of a response. */
export const maxAnswerFields = 500_000

/** Reasons why an operation ends before its response. */
type Ending = AnswerTooLarge | ClientLeft | OperationCostExceeded | LimitError | QueryTooLong

/** The part of a budget that an operation has used. */
export interface Spent {
  readonly fields: number
  readonly bytes: number
  /** In the units of `prices.ts`. */
  readonly cost: number
}

export interface Budget {
  /** Fires when the operation has to end. Its reason is the error that the operation ends with. */
  readonly signal: AbortSignal
  /** Throws the reason of `signal` when the operation has to end. */
  check(): void
  /** Counts fields, by default one, and their bytes; throws as `check` does. */
  spend(bytes: number, fields?: number): void
  /** Counts work in the units of `prices.ts`; throws as `check` does. */
  compute(units: number): void
  /** Begins the next response: each event of a subscription is one. */
  renew(): void
  /** Ends the operation because its client has disconnected. */
  leave(): void
  /** Ends the operation because it has exceeded its time limit. */
  overdue(limitMs: number): void
  /** Counts the operation as a running one of its client until `close`. */
  begin(runningOperations: RunningOperations, client: string): void
  /** Stops counting the operation as running: its response is sent or dropped. */
  close(): void
  /** Fields, bytes and cost of the response so far. */
  readonly spent: Spent
}

export function createBudget(): Budget {
  return new OperationBudget()
}

/** A class because of its accessors: an object literal with accessors is slow to create and retains its closure (decision 022). */
class OperationBudget implements Budget {
  #counted: RunningOperations | undefined
  /** The running operations of the client. */
  #own: Held | undefined
  #client = ''
  /** Created on first use: few operations read the signal. */
  #controller: AbortController | undefined
  #reason: GraphQLError | undefined
  #bytes = 0
  #fields = 0
  #work = 0

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  get spent(): Spent {
    return { fields: this.#fields, bytes: this.#bytes, cost: Math.ceil(this.#cost()) }
  }

  check(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  compute(units: number): void {
    this.#work += units
    this.#settle()
  }

  spend(bytes: number, fields = 1): void {
    this.#fields += fields
    this.#bytes += bytes
    this.#hold(bytes)
    this.#settle()
  }

  renew(): void {
    this.#hold(-this.#bytes)
    this.#bytes = 0
    this.#fields = 0
    this.#work = 0
    if (this.#reason === undefined || this.#reason.extensions.code === 'CLIENT_LEFT') return
    this.#reason = undefined
    this.#controller = undefined
  }

  leave(): void {
    this.#end({ code: 'CLIENT_LEFT' })
  }

  overdue(limitMs: number): void {
    this.#end({ code: 'QUERY_TOO_LONG', limitMs })
  }

  begin(runningOperations: RunningOperations, client: string): void {
    if (this.#counted !== undefined) return
    this.#counted = runningOperations
    this.#own = heldBy(runningOperations, client)
    this.#client = client
    runningOperations.operations++
    this.#own.operations++
  }

  close(): void {
    const [counted, own] = [this.#counted, this.#own]
    if (counted === undefined || own === undefined) return
    this.#hold(-this.#bytes)
    counted.operations--
    own.operations--
    forgetIdle(counted, this.#client)
    this.#counted = undefined
    this.#own = undefined
  }

  #hold(bytes: number): void {
    if (this.#counted === undefined || this.#own === undefined) return
    this.#counted.bytes += bytes
    this.#own.bytes += bytes
  }

  #cost(): number {
    return operationCostBase + this.#fields * fieldWork + this.#bytes / bytesOfUnit + this.#work
  }

  /** Ends the operation when a limit is exceeded. */
  #settle(): void {
    const [counted, own] = [this.#counted, this.#own]
    if (this.#bytes > maxAnswerBytes) {
      this.#end({ code: 'ANSWER_TOO_LARGE', unit: 'bytes', limit: maxAnswerBytes })
    } else if (this.#fields > maxAnswerFields) {
      this.#end({ code: 'ANSWER_TOO_LARGE', unit: 'fields', limit: maxAnswerFields })
    } else if (this.#cost() > maxOperationCost) {
      this.#end({ code: 'OPERATION_COST_EXCEEDED', limit: maxOperationCost })
    } else if (counted && own && own.bytes > counted.limits.heldBytes - counted.bytes) {
      this.#end({ code: 'OPERATION_LIMIT', unit: 'bytes', limit: counted.limits.heldBytes })
    }
    this.check()
  }

  #end(error: Ending): void {
    if (this.#reason !== undefined) return
    this.#reason = toGraphQL(error)
    this.#controller?.abort(this.#reason)
  }
}
