import { toRest } from '../errors.ts'
import { about, listOf, object, text, uint32 } from './openapi/shape.ts'
import { readNumber } from './query.ts'
import { json, type Route } from './route.ts'

/** The list of all routes, as the explorer's own server has it (rest.md 3.1). */
export function routeListRoute(routes: readonly Route[]): Route {
  return {
    method: 'GET',
    path: '/routes',
    about: 'The paths of all routes, or their beginnings.',
    query: { depth: about('How many segments of each path; all by default.', uint32) },
    answers: { 200: { about: 'The paths.', json: object({ routes: listOf(text) }) } },
    errors: [],
    answer: async ({ query }) => {
      const depth = readNumber(query, 'depth')
      if (!depth.ok) return toRest(depth.error)
      const end = depth.value === undefined ? undefined : depth.value + 1
      const paths = routes.map(({ path }) => path.split('/').slice(0, end).join('/') || '/')
      return json(200, { routes: [...new Set(paths)].sort() })
    },
  }
}
