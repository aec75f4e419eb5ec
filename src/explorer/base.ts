/** URLs of the gateway. The gateway sets the base URL of the document to its root, also behind a path prefix. */

/** Root URL of the gateway, with a trailing slash. */
export const root = new URL('.', document.baseURI)

/** The path of a URL below the root, with a leading slash; `undefined` for a URL outside the root. */
export function pathBelowRoot({ origin, pathname }: URL): string | undefined {
  if (origin !== root.origin || !pathname.startsWith(root.pathname)) return undefined
  return pathname.slice(root.pathname.length - 1)
}

/** The URL path of a path below the root. */
export function addressOf(path: string): string {
  return root.pathname + path.slice(1)
}
