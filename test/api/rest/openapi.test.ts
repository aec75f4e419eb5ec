import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openapiDocument } from '../../../src/api/rest/openapi/document.ts'
import { routes } from '../../../src/api/rest/routes.ts'
import { programVersion } from '../../../src/lib/version.ts'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const document = JSON.parse(JSON.stringify(openapiDocument(routes, programVersion())))

test('the document is served as it is generated', async () => {
  const response = await rest(`${gateway.url}/openapi.json`)
  expect(await response.json()).toEqual(document)
})

describe('the document', () => {
  test('describes every route once', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.toSorted()).toEqual(
      routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
    )
  })

  test('names every parameter of a path, and no other', () => {
    for (const { path, params = {} } of routes) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(Object.keys(params), path).toEqual(named)
    }
  })

  test('states that a route needs no token unless it says so', () => {
    expect(document.security).toEqual([])
    const secured = routes.flatMap(({ path, method, token }) =>
      token ? [`${method} ${path}`] : [],
    )
    const stated = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { security?: unknown }>).flatMap(
        ([method, { security }]) => (security ? [`${method.toUpperCase()} ${path}`] : []),
      ),
    )
    expect(secured.length).toBeGreaterThan(3)
    expect(stated.sort()).toEqual(secured.sort())
  })

  test('has a unique id for every operation', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods as Record<string, { operationId: string }>).map(
        ({ operationId }) => operationId,
      ),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('refers only to components that it has', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)]
    expect(refs.length).toBeGreaterThan(50)
    for (const [ref, kind = '', name = ''] of refs) {
      expect(Object.keys(document.components[kind]), ref).toContain(name)
    }
  })

  test('has a text for every operation and every response', () => {
    const empty = JSON.stringify(document).match(/"(summary|description)":""/g)
    expect(empty).toBeNull()
  })
})
