import { err, ok, type Result } from '../../lib/result.ts'
import type { Schema } from '../../protocol/schema/schema.ts'
import type { NotOffered } from '../../service/network/not-offered.ts'
import type { OutputNotServed } from '../../service/outputs/output-life.ts'
import type { Services } from '../../service/services.ts'
import { toRest } from '../errors.ts'
import { answerWith } from './core/answer.ts'
import type { RestRequest, Route } from './route.ts'

/** Routes whose answers are made of accounts, epochs or blocks: in front of a node these are not kept here. */

/**
 * The same route, which in front of a node gives the node's answer. The parameters are looked at here all the same: the
 * own answer is made first, and only what it says of them is kept.
 */
export function askedOfNode<T>(route: Route, schema: Schema<T>): Route {
  return {
    ...route,
    errors: [...new Set([...route.errors, 404])],
    answer: async (request, services) => {
      const own = await route.answer(request, services)
      if (services.source.node === undefined || own.status === 400) return own
      const told = await askNode(services, pathOf(route, request), schema)
      return told.ok ? answerWith(request, schema, told.value) : toRest(told.error)
    },
  }
}

/** The same route, which in front of a node says that nodes do not tell this. */
export function notOfferedByNodes(route: Route, what: string): Route {
  return {
    ...route,
    errors: [...route.errors, 501],
    answer: async (request, services) => {
      if (services.source.node === undefined) return route.answer(request, services)
      return toRest({ code: 'NOT_OFFERED_BY_NODES', what } satisfies NotOffered)
    },
  }
}

const base = '/api/core/v3'

/** Behind the base, as it was asked. */
function pathOf({ path }: Route, { params, query }: RestRequest): string {
  const filled = [...params].reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path.slice(base.length),
  )
  return query.size === 0 ? filled : `${filled}?${new URLSearchParams([...query])}`
}

type Refused =
  | OutputNotServed
  | { readonly code: 'NOT_FOUND'; readonly what: string; readonly id: string }

async function askNode<T>(
  { source }: Services,
  path: string,
  schema: Schema<T>,
): Promise<Result<T, Refused>> {
  const told = await source.node?.ask(path, schema)
  if (told === undefined) return err({ code: 'NOT_TOLD_BY_NODE', what: path })
  if (!told.ok) return told
  if (told.value !== undefined) return ok(told.value)
  return err({ code: 'NOT_FOUND', what: 'answer of the node', id: path })
}
