import { err, ok, type Result } from '../../lib/result.ts'
import type { Schema } from '../../protocol/schema/schema.ts'
import type { NotServedByNode } from '../../service/blocks/read-block.ts'
import type { Services } from '../../service/services.ts'
import type { NotFound } from '../errors/api-errors.ts'
import { toRest } from '../errors/errors.ts'
import type { SerializedReply } from './reply.ts'
import type { RestRequest } from './request.ts'
import type { ReadRoute, Route } from './route.ts'

/** Routes that need accounts, epochs or blocks, which a gateway in upstream mode does not store. */

/**
 * Makes a route forward to the node in upstream mode. The parameters are still validated here: the own response is computed
 * first, and only its status 400 is used. The epoch of the node is ahead of the newest slot that was followed, so the node decides
 * whether an epoch has begun. `aliases` has the names of query parameters that only this gateway knows, with the names
 * that a node knows.
 */
export function forwardedUpstream<T>(
  route: ReadRoute<SerializedReply<T>>,
  aliases: Aliases = {},
): Route {
  const { schema, respond } = route.reply
  return {
    ...route,
    errors: [...new Set([...(route.errors ?? []), 404])],
    answer: async (request, services) => {
      const own = await route.answer(request, services)
      const isEarly = own.code === 'EPOCH_NOT_BEGUN'
      if (services.source.node === undefined || (own.status === 400 && !isEarly)) return own
      const answer = await fetchFromNode(services, pathOf(route, request, aliases), schema)
      if (answer.ok) return respond(request, answer.value)
      return isEarly && answer.error.code === 'NOT_FOUND' ? own : toRest(answer.error)
    },
  }
}

/** Makes a route refuse requests in upstream mode, because nodes do not offer `what`. */
export function notOfferedByNodes(route: Route, what: string): Route {
  return {
    ...route,
    errors: [...(route.errors ?? []), 501],
    answer: async (request, services) =>
      services.source.node === undefined
        ? await route.answer(request, services)
        : toRest({ code: 'NOT_OFFERED_BY_NODES', what }),
  }
}

type Aliases = Readonly<Record<string, string>>

const base = '/api/core/v3'

/** Returns the path below `base` with the parameters of the request. */
function pathOf({ path }: Route, { params, query }: RestRequest, aliases: Aliases): string {
  const filled = [...params].reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path.slice(base.length),
  )
  const named = new URLSearchParams()
  for (const [name, value] of query) {
    const known = aliases[name] ?? name
    // The name that a node knows takes precedence over its alias.
    if (known === name || !query.has(known)) named.set(known, value)
  }
  return query.size === 0 ? filled : `${filled}?${named}`
}

async function fetchFromNode<T>(
  { source }: Services,
  path: string,
  schema: Schema<T>,
): Promise<Result<T, NotServedByNode | NotFound>> {
  const answer = await source.node?.fetch(path, schema)
  if (answer === undefined) return err({ code: 'NOT_TOLD_BY_NODE', what: path })
  if (!answer.ok) return answer
  if (answer.value !== undefined) return ok(answer.value)
  return err({ code: 'NOT_FOUND', what: 'response of the node to', id: path })
}
