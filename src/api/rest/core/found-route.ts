import type { Hex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound } from '../../api-errors.ts'
import type { GatewayError } from '../../gateway-error.ts'
import { pathId } from '../parameters.ts'
import type { Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The routes of one kind of object: each names it by its id, finds it, and answers something of it. */

/** How an object is named and found. */
export interface FoundObject<I extends Hex, F> {
  /** The beginning of the path, before the id. */
  readonly base: string
  /** The name of the id in the path. */
  readonly name: string
  readonly id: Schema<I> & { readonly max: number }
  /** What finding it takes, in units of cost; by default that of usual routes. */
  readonly cost?: number
  find(services: Services, id: I): Promise<Result<F, GatewayError>>
}

/** What one route answers of the object. */
export interface FoundAnswer<F, T, R extends Reply<T>> {
  readonly about: string
  readonly reply: R & Reply<T>
  toAnswer(
    found: F,
    services: Services,
  ): Result<NoInfer<T>, GatewayError> | Promise<Result<NoInfer<T>, GatewayError>>
}

/** Makes the function that declares routes of one kind of object, by the end of their path. */
export function routesOf<I extends Hex, F>({ base, name, id, cost, find }: FoundObject<I, F>) {
  return <T, R extends Reply<T>>(end: string, { toAnswer, ...described }: FoundAnswer<F, T, R>) =>
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

/** The value; an error 404 where there is none. */
export function orNotFound<T, E>(
  found: Result<T | undefined, E>,
  what: string,
  id: string,
): Result<T, E | NotFound> {
  if (!found.ok) return found
  return found.value === undefined ? err({ code: 'NOT_FOUND', what, id }) : ok(found.value)
}
