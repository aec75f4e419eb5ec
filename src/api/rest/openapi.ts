import { ok } from '../../lib/result.ts'
import { anyObject, object, text } from './form.ts'
import { openapiDocument } from './openapi/document.ts'
import { jsonReply } from './reply.ts'
import { type Route, readRoute } from './route.ts'
import { routeListRoute } from './route-list.ts'

/** Routes with those that list and describe them all, themselves among them. */
export function withDocument(routes: readonly Route[]): readonly Route[] {
  const all: Route[] = [...routes]
  all.push(routeListRoute(all), documentRoute(all))
  return all
}

const documentForm = object({
  openapi: text,
  info: anyObject,
  paths: anyObject,
  components: anyObject,
})

function documentRoute(routes: readonly Route[]): Route {
  // It never changes while the process runs.
  let document: ReturnType<typeof openapiDocument> | undefined
  return readRoute({
    path: '/openapi.json',
    about: 'This document.',
    reply: jsonReply('An OpenAPI 3.1 document.', documentForm),
    answer: async (_given, { version }) => {
      document ??= openapiDocument(routes, version)
      return ok(document)
    },
  })
}
