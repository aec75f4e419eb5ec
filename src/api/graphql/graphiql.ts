import { once } from 'node:events'
import type { GraphiQLOptions } from 'graphql-yoga'
import { present } from '../../lib/assert.ts'
import { startThread } from '../../lib/thread.ts'
import type { Services } from '../../service/services.ts'
import type { RestResponse } from '../rest/response.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import type { MadePage } from './graphiql-worker.ts'

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
  const options: GraphiQLOptions = {
    title: 'Ledger Gateway',
    subscriptionsProtocol: 'WS',
    defaultTabs: [...(await graphiqlTabs(services))],
  }
  // Here it would hold up all others.
  const thread = startThread(import.meta.url, 'graphiql-worker', options)
  const [made]: MadePage[] = await once(thread, 'message')
  const { etag, body, gzip, br } = present(made, 'the page')
  return {
    status: 200,
    headers: {
      etag,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
    body,
    compressed: { gzip, br },
  }
}
