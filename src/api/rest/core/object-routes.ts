import type { Hex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound } from '../../errors/api-errors.ts'
import type { GatewayError } from '../../errors/gateway-error.ts'
import { pathId } from '../parameters.ts'
import type { Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Declares the routes of one kind of object: each route finds an object by its id and returns one view of the object. */

/** How an object is identified and found. */
export interface RoutedObject<I extends Hex, F> {
  /** The path before the id. */
  readonly base: string
  /** The name of the path parameter with the id. */
  readonly name: string
  readonly id: Schema<I> & { readonly max: number }
  /** Cost of finding the object; the default cost of routes if absent. */
  readonly cost?: number
  find(services: Services, id: I): Promise<Result<F, GatewayError>>
}

/** The view of the object that one route returns. */
export interface ObjectRoute<F, T, R extends Reply<T>> {
  readonly about: string
  readonly reply: R & Reply<T>
  toAnswer(
    found: F,
    services: Services,
  ): Result<NoInfer<T>, GatewayError> | Promise<Result<NoInfer<T>, GatewayError>>
}

/** Returns a function that declares a route of this kind of object; `end` is the path after the id. */
export function routesOf<I extends Hex, F>({ base, name, id, cost, find }: RoutedObject<I, F>) {
  return <T, R extends Reply<T>>(end: string, { toAnswer, ...described }: ObjectRoute<F, T, R>) =>
    readRoute<T, R>({
      ...described,
      ...(cost !== undefined && { cost }),
      path: `${base}/{${name}}${end}`,
      params: { [name]: pathId(id) },
      errors: [404],
      answer: async (given: Readonly<Record<string, I>>, services) => {
        const found = await find(services, given[name] as I)
        return found.ok ? await toAnswer(found.value, services) : found
      },
    })
}

/** Returns the value, or NOT_FOUND if it is `undefined`. */
export function orNotFound<T, E>(
  found: Result<T | undefined, E>,
  what: string,
  id: string,
): Result<T, E | NotFound> {
  if (!found.ok) return found
  return found.value === undefined ? err({ code: 'NOT_FOUND', what, id }) : ok(found.value)
}
