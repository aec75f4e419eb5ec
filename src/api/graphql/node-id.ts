import type { Hex } from '../../lib/hex.ts'
import { toGraphQL } from '../errors.ts'

/** Global ids: the name of a type and what identifies a thing of that type, in URL-safe Base64. */

/** The types that implement `Node`. */
const nodeTypes = new Set([
  'Account',
  'Address',
  'Anchor',
  'Block',
  'ChainRecord',
  'Delegation',
  'LedgerUpdate',
  'Milestone',
  'Nft',
  'Output',
  'Token',
  'Transaction',
])

/** What a global id says. */
export interface NodeId {
  readonly typename: string
  readonly id: string
}

/** The global id of a thing. */
export function encodeNodeId(typename: string, id: string | number | bigint): string {
  return Buffer.from(`${typename}:${id}`, 'latin1').toString('base64url')
}

/** What a global id says; throws a GraphQLError for one that this gateway does not write. */
export function decodeNodeId(text: string): NodeId {
  const [typename = '', id] = Buffer.from(text, 'base64url').toString('latin1').split(':')
  if (id === undefined || !nodeTypes.has(typename) || encodeNodeId(typename, id) !== text) {
    throw toGraphQL({ code: 'NODE_ID_MALFORMED', argument: 'id' })
  }
  return { typename, id }
}

/** An identifier of the protocol; `undefined` for a text that is none. */
export function protocolId<I extends Hex>(text: string, bytes: number): I | undefined {
  return text.length === 2 + 2 * bytes && /^0x[0-9a-f]*$/.test(text) ? (text as I) : undefined
}

/** A whole number of 32 bits; `undefined` for a text that is none. */
export function indexId(text: string): number | undefined {
  return /^(0|[1-9][0-9]{0,9})$/.test(text) && Number(text) < 2 ** 32 ? Number(text) : undefined
}
