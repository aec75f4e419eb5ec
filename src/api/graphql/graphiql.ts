import { gzipSync } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

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

let page: GraphiqlPage | undefined

/** The page, made when it is first asked for: it has nine megabytes. */
export function graphiqlPage(): GraphiqlPage {
  page ??= makePage()
  return page
}

function makePage(): GraphiqlPage {
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
      vary: 'accept-encoding',
    },
    plain,
    gzip: gzipSync(plain),
  }
}
