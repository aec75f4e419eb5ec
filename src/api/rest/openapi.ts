import { ok } from '../../lib/result.ts'
import { anyObject, listOf, object, text } from './form.ts'
import { openapiDocument } from './openapi/document.ts'
import { jsonReply } from './reply.ts'
import type { RestResponse } from './response.ts'
import { type Route, route } from './route.ts'
import { routeListRoute } from './route-list.ts'

/** Adds the routes that list and describe all routes, including themselves. */
export function withDocument(routes: readonly Route[]): readonly Route[] {
  const all: Route[] = [...routes]
  all.push(routeListRoute(all), documentRoute(all))
  return all
}

const documentForm = object({
  openapi: text,
  info: anyObject,
  servers: listOf(anyObject),
  security: listOf(anyObject),
  paths: anyObject,
  components: anyObject,
})

function documentRoute(routes: readonly Route[]): Route {
  const reply = jsonReply('An OpenAPI 3.1 document.', documentForm)
  // The document never changes while the process runs, and printing its 400 KB takes milliseconds.
  let printed: RestResponse | undefined
  return route({
    method: 'GET',
    path: '/openapi.json',
    about: 'Returns this document.',
    answers: { 200: reply },
    answer: async (_given, { version }, request) => {
      printed ??= reply.respond(request, openapiDocument(routes, version))
      return ok(printed)
    },
  })
}
