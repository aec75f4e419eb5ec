import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { htmlHeaders } from './http/html-headers.ts'
import { tagOf } from './rest/respond.ts'
import type { RestResponse } from './rest/response.ts'

/** Serves the explorer to browsers: its HTML at the paths of its pages, and the files that the HTML loads. */

/** The explorer, loaded into memory at startup. */
export interface Explorer {
  /** Returns the HTML for a path; `undefined` if the explorer has no such page. */
  page(path: string): RestResponse | undefined
  /** Returns the HTML that shows that a page does not exist; `undefined` for a path of more than eight segments. */
  missing(path: string): RestResponse | undefined
  /** Returns a file that the HTML loads; `undefined` if it does not exist. */
  file(path: string): RestResponse | undefined
  /** Every GraphQL document that the explorer sends. */
  readonly documents: readonly string[]
}

/** Allows the browser to load only files of the gateway, and nothing inline except data URLs of images. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The name of a file contains a hash of its content, so caches may keep it forever. */
const fileHeaders = { 'cache-control': 'public, max-age=31536000, immutable' }

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Output folder of `npm run build`; the relative path is the same from `src` and from `dist`. */
const builtFolder = new URL('../../dist/explorer/', import.meta.url)

/** Folder and URL path of the files with hashes in their names. */
const hashedPath = '/explorer/'

/** Loads the explorer; resolves to `undefined` if it was not built. */
export async function readExplorer(folder = builtFolder): Promise<Explorer | undefined> {
  const html = await readFile(new URL('index.html', folder), 'utf8').catch(() => undefined)
  if (html === undefined) return undefined
  const paths: Readonly<Record<string, string>> = JSON.parse(
    await readFile(new URL('pages.json', folder), 'utf8'),
  )
  const documents: readonly string[] = JSON.parse(
    await readFile(new URL('documents.json', folder), 'utf8'),
  )
  const patterns = Object.values(paths).map((path) => path.split('/'))
  const files = await readFiles(new URL(`.${hashedPath}`, folder))
  const pagesByDepth: RestResponse[] = []
  for (let depth = 0; depth < 8; depth++) pagesByDepth.push(await pageOf(html, depth))
  return {
    page: (path) => {
      const parts = path.split('/')
      if (!patterns.some((pattern) => matches(pattern, parts))) return undefined
      return pagesByDepth[parts.length - 2]
    },
    missing: (path) => {
      const found = pagesByDepth[path.split('/').length - 2]
      if (found === undefined) return undefined
      const { etag: _, ...headers } = found.headers
      return { ...found, headers, status: 404, code: 'PATH_UNKNOWN' }
    },
    file: (path) =>
      path.startsWith(hashedPath) ? files.get(path.slice(hashedPath.length)) : undefined,
    documents,
  }
}

/** Whether a path matches a pattern; `:name` matches any segment that is not empty. */
function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false
  return pattern.every((part, n) => (part.startsWith(':') ? parts[n] !== '' : part === parts[n]))
}

/** Returns the HTML for pages at a folder depth. Its relative base leads to the root, whatever path prefix a proxy adds. */
async function pageOf(html: string, depth: number): Promise<RestResponse> {
  const base = depth === 0 ? './' : '../'.repeat(depth)
  const body = Buffer.from(html.replace('<base href="./"', `<base href="${base}"`))
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body), promisify(gzip)(body)])
  const headers = { ...htmlHeaders(contentSecurityPolicy), etag: tagOf(body) }
  return { status: 200, headers, body, compressed: { br, gzip: gz } }
}

async function readFiles(folder: URL): Promise<ReadonlyMap<string, RestResponse>> {
  const names = await readdir(folder)
  const files = new Map<string, RestResponse>()
  // Sequentially, because the process may have a low limit of open files.
  for (const name of names.filter((one) => !/\.(?:br|gz)$/.test(one))) {
    const read = (ending: string) => readFile(fileURLToPath(new URL(name + ending, folder)))
    const [body, br, gz] = [await read(''), await read('.br'), await read('.gz')]
    const type = contentTypes[name.slice(name.lastIndexOf('.') + 1)]
    const headers = {
      ...fileHeaders,
      'content-type': type ?? 'application/octet-stream',
      etag: tagOf(body),
    }
    files.set(name, { status: 200, headers, body, compressed: { br, gzip: gz } })
  }
  return files
}

/** Returns the response for a path of the explorer; `undefined` for other paths. `isOpened`: a browser navigates to the path. */
export function explorerResponse(
  explorer: Explorer | undefined,
  { method }: IncomingMessage,
  path: string,
  isOpened: boolean,
): RestResponse | undefined {
  if (explorer === undefined || (method !== 'GET' && method !== 'HEAD')) return undefined
  return isOpened ? (explorer.page(path) ?? explorer.file(path)) : explorer.file(path)
}
