import type { IncomingHttpHeaders } from 'node:http'
import { type BlockList, isIP, isIPv6 } from 'node:net'

/** Determines the client address of a request: the address of its connection, or the one that trusted proxies report. */

/**
 * The proxies whose headers are trusted: a number of proxies in a row, or all proxies in some networks. A proxy must set or
 * remove both `X-Forwarded-For` and `Forwarded`. If a request has both headers and they differ, neither is used.
 */
export type TrustedProxies =
  | { readonly kind: 'none' }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'networks'; readonly networks: BlockList }

/** Returns the key that clients are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, which one host owns. */
export function clientOf(
  remoteAddress: string | undefined,
  headers: IncomingHttpHeaders,
  proxies: TrustedProxies,
): string {
  const remote = plainAddress(remoteAddress ?? '')
  if (proxies.kind === 'none' || !isTrusted(proxies, remote, 0)) return networkOf(remote)
  let client = remote
  for (const [i, address] of forwarders(headers).toReversed().entries()) {
    // The entry is a name, not an address, so the writer of the entries to its left is unknown.
    if (isIP(address) === 0) break
    client = address
    if (!isTrusted(proxies, address, i + 1)) break
  }
  return networkOf(client)
}

/** Whether a connection comes from a trusted proxy. */
export function isProxy(remoteAddress: string | undefined, proxies: TrustedProxies): boolean {
  return isTrusted(proxies, plainAddress(remoteAddress ?? ''), 0)
}

/** Whether the address that a sender reports as forwarded is trusted; `hops` proxies lie between the sender and this gateway. */
function isTrusted(proxies: TrustedProxies, address: string, hops: number): boolean {
  if (proxies.kind === 'none') return false
  if (proxies.kind === 'count') return hops < proxies.count
  return isIP(address) !== 0 && proxies.networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** The forwarded addresses, the nearest last. */
function forwarders(headers: IncomingHttpHeaders): readonly string[] {
  const { forwarded, 'x-forwarded-for': plain } = headers
  const listed = plain === undefined ? undefined : addressesOf(String(plain))
  const standard = forwarded === undefined ? undefined : forOf(forwarded)
  if (listed === undefined || standard === undefined) return listed ?? standard ?? []
  return listed.join() === standard.join() ? listed : []
}

function addressesOf(list: string): readonly string[] {
  return list.split(',').map((one) => plainAddress(one.trim()))
}

/** The `for` parameters of a `Forwarded` header (RFC 7239 4). */
function forOf(list: string): readonly string[] {
  return splitUnquoted(list, ',').map((element) => {
    // Trimmed first: white space that both parts of an expression match would be tried in each division between them.
    const pairs = splitUnquoted(element, ';').map((pair) => /^for="?([^"]*)"?$/i.exec(pair.trim()))
    return plainAddress(pairs.find((pair) => pair !== null)?.[1]?.trim() ?? '')
  })
}

/**
 * Splits at separators outside of quoted values: the `host` of a request, which the client chooses, may contain `,` and `;`. Reads
 * from the end, so that a quote that the client left open does not reach into the elements that proxies appended.
 */
function splitUnquoted(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = []
  let isQuoted = false
  let end = text.length
  for (let at = text.length - 1; at >= 0; at--) {
    const character = text[at]
    if (character === '"' && !isEscaped(text, at)) isQuoted = !isQuoted
    if (character !== separator || isQuoted) continue
    parts.push(text.slice(at + 1, end))
    end = at
  }
  return [...parts, text.slice(0, end)].reverse()
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let from = at
  while (text[from - 1] === '\\') from--
  return (at - from) % 2 === 1
}

/** Removes port, brackets and zone, and converts an IPv4-mapped IPv6 address to IPv4. */
function plainAddress(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1]
  const address = bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return address.replace(/%.*$/, '').replace(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/i, '$1')
}

function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = '', after] = address.toLowerCase().split('::')
  const groups = before === '' ? [] : before.split(':')
  // The double colon replaces the missing zero groups. Groups after it matter only when few are missing.
  const behind = after === undefined || after === '' ? [] : after.split(':')
  const zeros = after === undefined ? 0 : 8 - groups.length - behind.length
  const all = [...groups, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...behind]
  const prefix = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
}
