import { promisify } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { GraphiQLOptions } from 'graphql-yoga'
import { assert } from '../../../lib/assert.ts'
import { lowerThreadPriority } from '../../../lib/thread-priority.ts'
import { tagOf } from '../../rest/respond.ts'

/** Worker that creates the GraphiQL page: loading and assembling its nine megabytes takes a quarter of a second of processor time. */

/** The page, uncompressed and compressed. */
export interface RenderedPage {
  readonly etag: string
  readonly body: Uint8Array
  readonly gzip: Uint8Array
  readonly br: Uint8Array
}

/**
 * Function that runs in the browser. It reads the query and the variables from the URL: GraphiQL itself reads the query but not the
 * variables, and opens the default tabs only if the browser has stored none.
 */
const readUrl = `(options) => {
  const { searchParams } = new URL(location.href)
  const [query, variables] = ['query', 'variables'].map((name) => searchParams.get(name))
  if (query !== null) options.defaultTabs.unshift({ query, variables })
  if (variables !== null) options.variables = variables
  return options
}`

/** Brotli quality with about the size of gzip, in a third of the time. The best quality would take half a minute. */
const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

async function makePage(options: GraphiQLOptions): Promise<RenderedPage> {
  const rendered = renderGraphiQL(options)
  const json = JSON.stringify(options)
  const at = rendered.lastIndexOf(json)
  assert(at !== -1, 'the page has its options')
  const text = `${rendered.slice(0, at)}(${readUrl})(${json})${rendered.slice(at + json.length)}`
  const body = Buffer.from(text.trim(), 'utf8')
  return {
    // Computed once: it takes longer than the rest of a response.
    etag: tagOf(body),
    body,
    gzip: await promisify(gzip)(body),
    br: await promisify(brotliCompress)(body, fastBrotli),
  }
}

lowerThreadPriority('tenth')
// Without a top-level `await` (lib/thread.ts). A rejection is an error of the thread.
void makePage(workerData).then((page) => parentPort?.postMessage(page))
