import { chainIdOf } from '../support/chain-ids.ts'
import type { Random } from '../support/random.ts'
import { restJson } from '../support/rest.ts'
import { addressOf, user } from '../support/wallet.ts'

/** Values for random requests: values of the ledger, and invalid ones. */

/** Returns a random element. */
export function pick<T>(random: Random, from: readonly T[]): T {
  const one = from[random.between(0, from.length - 1)]
  if (one === undefined) throw new Error('the list is empty')
  return one
}

/** Returns `true` with the given probability in percent. */
export function chance(random: Random, percent: number): boolean {
  return random.between(1, 100) <= percent
}

/** Returns random bytes as hexadecimal text. */
export function hex(random: Random, bytes: number): string {
  return `0x${Array.from({ length: bytes }, () => random.between(0, 255).toString(16).padStart(2, '0')).join('')}`
}

/** Invalid texts, and texts of known attacks such as injection. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  'NaN',
  'null',
  '0x',
  '0xzz',
  '\u0000',
  '\ud800',
  '\u202e',
  '🙂',
  "'; --",
  '" OR 1=1',
  '%s%n',
  '../../etc/passwd',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'a'.repeat(3_000),
  '99999999999999999999999999999999',
  'tst1qqqq',
]

/** Numbers at the bounds of all ranges, and outside of them. */
export const oddNumbers: readonly number[] = [
  -1, 0, 1, 127, 128, 1_000, 1_001, 65_535, 65_536, 2_147_483_647, 2_147_483_648, 4_294_967_295,
  4_294_967_296, 9_007_199_254_740_991, 1e21, -1e21, 0.5, 5e-324,
]

/** Reads addresses, ids and cursors of the ledger of a gateway. */
export async function knownValues(url: string): Promise<readonly string[]> {
  const addresses = [0, 1, 2].map((index) => addressOf(user(index)))
  const pages = await Promise.all([
    ...addresses.map((one) =>
      restJson(`${url}/api/explorer/v2/ledger/updates/by-address/${one}?pageSize=2`),
    ),
    restJson(`${url}/feed/updates?limit=3&address=${addresses[1]}`),
    restJson(`${url}/api/core/v3/blocks/issuance`),
    restJson(`${url}/api/core/v3/info`),
    restJson(`${url}/api/explorer/v2/milestones?pageSize=3`),
  ])
  const found = JSON.stringify(pages).match(/0x[0-9a-f]{64,}[0-9a-z.]*|"[A-Za-z0-9_.-]{36}"/g) ?? []
  const texts = found.map((text) => text.replaceAll('"', ''))
  return [...new Set([...addresses, chainIdOf(1), chainIdOf(2), ...texts])]
}
