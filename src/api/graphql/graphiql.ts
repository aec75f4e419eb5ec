import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** The GraphiQL page: one document with everything in it, which no other host has a part in. */

/** The page as bytes, plain and compressed, with the headers that go with it. */
export interface GraphiqlPage {
  readonly headers: Readonly<Record<string, string>>
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
}

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

const defaultQuery = `# Ledger Gateway. Control-space completes, control-enter runs; the book on the left is the schema.
query Newest {
  milestone {
    index
    timestamp
    commitmentId
    updateCount
  }
}

# Every ledger update of every address, as slots are committed.
subscription Feed {
  ledgerUpdates {
    __typename
    ... on FeedOpened {
      cursor
    }
    ... on LedgerUpdateBatch {
      cursor
      updates {
        address
        outputId
        isSpent
        milestoneIndex
      }
    }
  }
}
`

const inGzip = promisify(gzip)

// The package is looked up now all the same: a program that is not whole shall not start.
import.meta.resolve('@graphql-yoga/render-graphiql')

let page: Promise<GraphiqlPage> | undefined

/**
 * The page, loaded on the first request: it has nine megabytes, and most gateways of a cluster never show it. After a
 * failure the next request loads it again.
 */
export function graphiqlPage(): Promise<GraphiqlPage> {
  page ??= makePage().catch((failure: unknown) => {
    page = undefined
    throw failure
  })
  return page
}

async function makePage(): Promise<GraphiqlPage> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const text = renderGraphiQL({
    title: 'Ledger Gateway',
    subscriptionsProtocol: 'WS',
    defaultQuery,
  })
  const plain = Buffer.from(text.trim(), 'utf8')
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
    plain,
    gzip: await inGzip(plain),
  }
}
