import { promisify } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { GraphiQLOptions } from 'graphql-yoga'
import { assert } from '../../lib/assert.ts'
import { lowerThreadPriority } from '../../lib/thread-priority.ts'
import { tagOf } from '../rest/respond.ts'

/** Makes the GraphiQL page: loading its nine megabytes and putting them together takes a quarter of a second of a processor. */

/** The page, as it is and compressed. */
export interface MadePage {
  readonly etag: string
  readonly body: Uint8Array
  readonly gzip: Uint8Array
  readonly br: Uint8Array
}

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

/** As small as gzip makes it, in a third of the time; the best quality would take half a minute. */
const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

async function makePage(options: GraphiQLOptions): Promise<MadePage> {
  const rendered = renderGraphiQL(options)
  const json = JSON.stringify(options)
  const at = rendered.lastIndexOf(json)
  assert(at !== -1, 'the page has its options')
  const text = `${rendered.slice(0, at)}(${ofAddress})(${json})${rendered.slice(at + json.length)}`
  const body = Buffer.from(text.trim(), 'utf8')
  return {
    // Computed once: it takes longer than all the rest of an answer.
    etag: tagOf(body),
    body,
    gzip: await promisify(gzip)(body),
    br: await promisify(brotliCompress)(body, fastBrotli),
  }
}

lowerThreadPriority()
parentPort?.postMessage(await makePage(workerData))
