import type { Json } from '../../src/protocol/schema/schema.ts'

/**
 * A protocol value as GraphQL answers it, and as protocol JSON, in a form that both have: without what one of them
 * derives (`__typename`) or leaves out when empty, and metadata entries as an object. Knows no types.
 */
export function plainJson(value: unknown): Json | undefined {
  if (value === null || value === undefined || value === '0x') return undefined
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.map((one) => plainJson(one) ?? null)
  }
  // An address of the graph, for what the protocol writes in its place.
  if (typeof value === 'object' && 'content' in value) return plainJson(value.content)
  const members = Object.entries(value as object).flatMap(([key, member]) => {
    const plain = key === 'entries' ? entriesOf(member) : plainJson(member)
    return key === '__typename' || plain === undefined ? [] : [[key, plain] as const]
  })
  return Object.fromEntries(members)
}

function entriesOf(entries: unknown): Json | undefined {
  if (!Array.isArray(entries)) return entries as Json
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]))
}
