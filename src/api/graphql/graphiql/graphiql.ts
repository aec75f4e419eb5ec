import { once } from 'node:events'
import type { GraphiQLOptions } from 'graphql-yoga'
import { present } from '../../../lib/assert.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { startThread } from '../../../lib/thread.ts'
import type { Services } from '../../../service/services.ts'
import { htmlHeaders } from '../../http/html-headers.ts'
import type { RestResponse } from '../../rest/response.ts'
import { graphiqlTabs } from './graphiql-tabs.ts'
import type { RenderedPage } from './graphiql-worker.ts'

/** The GraphiQL page: one self-contained document that loads nothing from other hosts. */

/**
 * Restricts the page to its own content, workers that it creates from text, and requests to this gateway. If the page ever referred to
 * another host, the browser would not contact it.
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

// Resolves the package at startup, although the worker loads it later: an incomplete installation must not start.
import.meta.resolve('@graphql-yoga/render-graphiql')

const pages = new WeakMap<Services, Promise<RestResponse>>()

/**
 * Returns the page. The first request creates it: it has nine megabytes, and most gateways of a cluster never serve it. After a failure,
 * the next request retries.
 */
export function graphiqlPage(services: Services): Promise<RestResponse> {
  return getOrInsert(pages, services, () =>
    makePage(services).catch((failure: unknown) => {
      pages.delete(services)
      throw failure
    }),
  )
}

async function makePage(services: Services): Promise<RestResponse> {
  const options: GraphiQLOptions = {
    title: 'Ledger Gateway',
    subscriptionsProtocol: 'WS',
    defaultTabs: [...(await graphiqlTabs(services))],
  }
  // In a worker thread, because the work would block all other requests here.
  const thread = startThread(import.meta.url, 'graphiql-worker', options)
  const [made]: RenderedPage[] = await once(thread, 'message')
  const { etag, body, gzip, br } = present(made, 'the page')
  return {
    status: 200,
    headers: { etag, ...htmlHeaders(contentSecurityPolicy) },
    body,
    compressed: { gzip, br },
  }
}
