import type { Json } from '../../src/protocol/schema/schema.ts'

/**
 * Converts a protocol value, as GraphQL returns it or as protocol JSON, to a form that is equal for both: without derived members
 * (`__typename`), without members that one of them omits when empty, with metadata entries as an object, and with the id of a native
 * token as `tokenId`, as in GraphQL. Uses no types.
 */
export function plainJson(value: unknown): Json | undefined {
  if (value === null || value === undefined || value === '0x') return undefined
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.map((one) => plainJson(one) ?? null)
  }
  // GraphQL returns an object with `content` where protocol JSON has the address itself.
  if (typeof value === 'object' && 'content' in value) return plainJson(value.content)
  const members = Object.entries(value as object).flatMap(([key, member]) => {
    const plain = key === 'entries' ? entriesOf(member) : plainJson(member)
    if (key === '__typename' || plain === undefined) return []
    return [[key === 'id' ? 'tokenId' : key, plain] as const]
  })
  return Object.fromEntries(members)
}

function entriesOf(entries: unknown): Json | undefined {
  if (!Array.isArray(entries)) return entries as Json
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]))
}
