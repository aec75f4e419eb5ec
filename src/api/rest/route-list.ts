import { ok } from '../../lib/result.ts'
import { listOf, object, text } from './form.ts'
import { number32 } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { type Route, readRoute } from './route.ts'

/** The list of all routes, as the explorer's own server has it (rest.md 3.1). */
export function routeListRoute(routes: readonly Route[]): Route {
  return readRoute({
    path: '/routes',
    about: 'The paths of all routes, or their beginnings.',
    query: { depth: number32('How many segments of each path; all by default.') },
    reply: jsonReply('The paths.', object({ routes: listOf(text) })),
    answer: async ({ depth }) => {
      const end = depth === undefined ? undefined : depth + 1
      const paths = routes.map(({ path }) => path.split('/').slice(0, end).join('/') || '/')
      return ok({ routes: [...new Set(paths)].sort() })
    },
  })
}
