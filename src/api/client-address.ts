import type { IncomingHttpHeaders } from 'node:http'
import { type BlockList, isIP, isIPv6 } from 'node:net'

/** From which address a request comes: that of its connection, or the one that trusted proxies name. */

/**
 * The proxies whose headers count: the given number of them, one behind the other, or those of some networks. A proxy has to
 * set or drop both `X-Forwarded-For` and `Forwarded`: where a request has both and they differ, neither counts.
 */
export type TrustedProxies =
  | { readonly kind: 'none' }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'networks'; readonly networks: BlockList }

/** What clients are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, which one host has for itself. */
export function clientOf(
  remoteAddress: string | undefined,
  headers: IncomingHttpHeaders,
  proxies: TrustedProxies,
): string {
  const remote = plainAddress(remoteAddress ?? '')
  if (proxies.kind === 'none' || !isTrusted(proxies, remote, 0)) return networkOf(remote)
  let client = remote
  for (const [i, address] of forwarders(headers).toReversed().entries()) {
    // A name or a word instead of an address: the writer of what is to its left is not known.
    if (isIP(address) === 0) break
    client = address
    if (!isTrusted(proxies, address, i + 1)) break
  }
  return networkOf(client)
}

/** Whether an address is that of a trusted proxy, as a stranger's connection never is. */
export function isProxy(remoteAddress: string | undefined, proxies: TrustedProxies): boolean {
  return isTrusted(proxies, plainAddress(remoteAddress ?? ''), 0)
}

/** Whether what an address says of the one before it counts; `hops` lie between that address and this gateway. */
function isTrusted(proxies: TrustedProxies, address: string, hops: number): boolean {
  if (proxies.kind === 'none') return false
  if (proxies.kind === 'count') return hops < proxies.count
  return isIP(address) !== 0 && proxies.networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** The addresses that were forwarded, the nearest last. */
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

/** The members `for` of the elements (RFC 7239 4). */
function forOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((element) => /(?:^|;)\s*for="?([^";,]*)"?/i.exec(element)?.[1] ?? '')
    .map((node) => plainAddress(node.trim()))
}

/** Without port, brackets and zone, and an IPv4 address out of its IPv6 form. */
function plainAddress(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1]
  const address = bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return address.replace(/%.*$/, '').replace(/^::ffff:(\d+\.\d+\.\d+\.\d+)$/i, '$1')
}

function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = '', after] = address.toLowerCase().split('::')
  const groups = before === '' ? [] : before.split(':')
  // The double colon means as many zeros as are missing; those behind it matter only where it is short.
  const behind = after === undefined || after === '' ? [] : after.split(':')
  const zeros = after === undefined ? 0 : 8 - groups.length - behind.length
  const all = [...groups, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...behind]
  const prefix = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
}
