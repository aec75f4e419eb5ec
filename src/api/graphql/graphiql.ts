import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { GraphiQLOptions } from 'graphql-yoga'
import { assert } from '../../lib/assert.ts'
import type { Services } from '../../service/services.ts'
import { tagOf } from '../rest/respond.ts'
import type { RestResponse } from '../rest/response.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'

/** The GraphiQL page: one document with everything in it, which no other host has a part in. */

/**
 * What the browser may load: the page itself, workers made from texts in it, and this gateway. So a page that ever came to
 * name another host would show it, not call it.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'font-src data:',
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Runs in the browser: GraphiQL takes the document of an address but not its variables, and has the default tabs only where
 * none are kept.
 */
const ofAddress = `(options) => {
  const { searchParams } = new URL(location.href)
  const [query, variables] = ['query', 'variables'].map((name) => searchParams.get(name))
  if (query !== null) options.defaultTabs.unshift({ query, variables })
  if (variables !== null) options.variables = variables
  return options
}`

const inGzip = promisify(gzip)
const inBrotli = promisify(brotliCompress)

/** As small as gzip makes it, in a third of the time; the best quality would take half a minute. */
const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

// The package is looked up now all the same: a program that is not whole shall not start.
import.meta.resolve('@graphql-yoga/render-graphiql')

const pages = new WeakMap<Services, Promise<RestResponse>>()

/**
 * The page, made on the first request: it has nine megabytes, and most gateways of a cluster never show it. After a failure the
 * next request makes it again.
 */
export function graphiqlPage(services: Services): Promise<RestResponse> {
  const known = pages.get(services)
  if (known !== undefined) return known
  const made = makePage(services).catch((failure: unknown) => {
    pages.delete(services)
    throw failure
  })
  pages.set(services, made)
  return made
}

async function makePage(services: Services): Promise<RestResponse> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const options: GraphiQLOptions = {
    title: 'Ledger Gateway',
    subscriptionsProtocol: 'WS',
    defaultTabs: [...(await graphiqlTabs(services))],
  }
  const rendered = renderGraphiQL(options)
  const json = JSON.stringify(options)
  const at = rendered.lastIndexOf(json)
  assert(at !== -1, 'the page has its options')
  const text = `${rendered.slice(0, at)}(${ofAddress})(${json})${rendered.slice(at + json.length)}`
  const body = Buffer.from(text.trim(), 'utf8')
  return {
    status: 200,
    headers: {
      // Computed once: it takes longer than all the rest of an answer.
      etag: tagOf(body),
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
    body,
    compressed: { gzip: await inGzip(body), br: await inBrotli(body, fastBrotli) },
  }
}
