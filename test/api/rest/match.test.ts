import { describe, expect, test } from 'vitest'
import { findRoute, readQuery, tableOf } from '../../../src/api/rest/match.ts'

const table = tableOf([
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/blocks/{blockId}' },
  { method: 'GET', path: '/blocks/issuance' },
  { method: 'POST', path: '/blocks' },
  { method: 'GET', path: '/blocks/{blockId}/{part}' },
] as const)

describe('a route is found', () => {
  const rows = [
    ['a literal path', 'GET', '/health', '/health', {}],
    ['HEAD by GET', 'HEAD', '/health', '/health', {}],
    ['with a slash at the end', 'GET', '/health/', '/health', {}],
    ['a parameter', 'GET', '/blocks/0x1', '/blocks/{blockId}', { blockId: '0x1' }],
    ['a literal before a parameter', 'GET', '/blocks/issuance', '/blocks/issuance', {}],
    ['a decoded parameter', 'GET', '/blocks/%c3%a4%2Fb', '/blocks/{blockId}', { blockId: 'ä/b' }],
    ['an encoded literal', 'GET', '/%68ealth', '/health', {}],
    [
      'two parameters',
      'GET',
      '/blocks/a/b',
      '/blocks/{blockId}/{part}',
      { blockId: 'a', part: 'b' },
    ],
  ] as const
  test.each(rows)('%s', (_name, method, path, pattern, params) => {
    const found = findRoute(table, method, path)
    expect(found.ok && found.value.route.path).toBe(pattern)
    expect(found.ok && Object.fromEntries(found.value.params)).toEqual(params)
  })
})

describe('no route is found', () => {
  const rows = [
    ['another path', 'GET', '/nowhere', { code: 'PATH_UNKNOWN' }],
    ['the root', 'GET', '/', { code: 'PATH_UNKNOWN' }],
    ['a path with a further segment', 'GET', '/health/x', { code: 'PATH_UNKNOWN' }],
    ['an empty parameter', 'GET', '/blocks//x', { code: 'PATH_UNKNOWN' }],
    ['an asterisk', 'GET', '*', { code: 'PATH_UNKNOWN' }],
    ['an incomplete percent encoding', 'GET', '/blocks/%4', { code: 'PATH_MALFORMED' }],
    ['bytes that are not UTF-8', 'GET', '/blocks/%ff', { code: 'PATH_MALFORMED' }],
    [
      'another method',
      'POST',
      '/health',
      { code: 'METHOD_NOT_ALLOWED', allowed: 'GET, HEAD, OPTIONS' },
    ],
    [
      'another method of a path with POST alone',
      'HEAD',
      '/blocks',
      { code: 'METHOD_NOT_ALLOWED', allowed: 'POST, OPTIONS' },
    ],
    [
      'another method of a literal path that a parameter also matches',
      'POST',
      '/blocks/issuance',
      { code: 'METHOD_NOT_ALLOWED' },
    ],
  ] as const
  test.each(rows)('%s', (_name, method, path, error) => {
    const found = findRoute(table, method, path)
    expect(found.ok ? undefined : found.error).toMatchObject(error)
  })
})

describe('a query is read', () => {
  const rows = [
    ['an empty query', '', {}],
    ['a name and a value', 'sort=newest', { sort: 'newest' }],
    ['an empty value', 'cursor=', { cursor: '' }],
    ['a name alone', 'cursor', { cursor: '' }],
    ['a value with an equals sign', 'cursor=a=b', { cursor: 'a=b' }],
    ['plus and percent', 'sort=a+b%20%2B', { sort: 'a b +' }],
    ['empty parts', '&sort=a&&cursor=b&', { sort: 'a', cursor: 'b' }],
  ] as const
  test.each(rows)('%s', (_name, query, values) => {
    const read = readQuery(query, ['sort', 'cursor'])
    expect(read.ok && Object.fromEntries(read.value)).toEqual(values)
  })
})

describe('a query is refused', () => {
  const rows = [
    ['an unknown name', 'Sort=a', { code: 'QUERY_PARAMETER_UNKNOWN', name: 'Sort', known: 'sort' }],
    ['a name twice', 'sort=a&sort=a', { code: 'QUERY_PARAMETER_REPEATED', name: 'sort' }],
    ['an incomplete percent encoding', 'sort=%', { code: 'QUERY_MALFORMED', part: 'sort=%' }],
    ['a name that is not UTF-8', '%ff=1', { code: 'QUERY_MALFORMED', part: '%ff=1' }],
  ] as const
  test.each(rows)('%s', (_name, query, error) => {
    const read = readQuery(query, ['sort'])
    expect(read.ok ? undefined : read.error).toEqual(error)
  })
})
