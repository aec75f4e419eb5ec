import { openapiDocument } from './openapi/document.ts'
import { anyObject, object, text } from './openapi/shape.ts'
import { json, type Route } from './route.ts'
import { routeListRoute } from './route-list.ts'

/** Routes with those that list and describe them all, themselves among them. */
export function withDocument(routes: readonly Route[]): readonly Route[] {
  const all: Route[] = [...routes]
  all.push(routeListRoute(all), documentRoute(all))
  return all
}

const documentShape = object({
  openapi: text,
  info: anyObject,
  paths: anyObject,
  components: anyObject,
})

function documentRoute(routes: readonly Route[]): Route {
  // It is the same for the life of the process.
  let document: unknown
  return {
    method: 'GET',
    path: '/openapi.json',
    about: 'This document.',
    answers: {
      200: { about: 'An OpenAPI 3.1 document.', json: documentShape },
    },
    errors: [],
    answer: async (_request, { version }) => {
      document ??= openapiDocument(routes, version)
      return json(200, document)
    },
  }
}
