import { ok } from '../../lib/result.ts'
import { listOf, object, text } from './form.ts'
import { number32 } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { type Route, readRoute } from './route.ts'

/** Lists all routes, like the original explorer server (rest.md 3.1). */
export function routeListRoute(routes: readonly Route[]): Route {
  return readRoute({
    path: '/routes',
    about: 'Returns the paths of all routes, or their prefixes.',
    query: { depth: number32('Number of segments of each path; all segments by default.') },
    reply: jsonReply('The paths.', object({ routes: listOf(text) })),
    answer: async ({ depth }) => {
      const end = depth === undefined ? undefined : depth + 1
      const paths = routes.map(({ path }) => path.split('/').slice(0, end).join('/') || '/')
      return ok({ routes: [...new Set(paths)].sort() })
    },
  })
}
