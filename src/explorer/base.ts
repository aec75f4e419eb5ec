/** Where the gateway is: the page's base, which the gateway set, leads to its root also behind a path prefix. */

/** The root of the gateway, with a slash at its end. */
export const root = new URL('.', document.baseURI)

/** The path of an address below the root, beginning with a slash; `undefined` for one that is elsewhere. */
export function pathBelowRoot({ origin, pathname }: URL): string | undefined {
  if (origin !== root.origin || !pathname.startsWith(root.pathname)) return undefined
  return pathname.slice(root.pathname.length - 1)
}

/** The address of a path below the root. */
export function addressOf(path: string): string {
  return root.pathname + path.slice(1)
}
