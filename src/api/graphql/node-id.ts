import type { Hex } from '../../lib/hex.ts'

/** Global ids: the name of a type and the id of an object of that type, in URL-safe Base64. */

const nodeTypes = new Set([
  'Account',
  'Address',
  'Anchor',
  'Block',
  'ChainRecord',
  'Delegation',
  'Epoch',
  'LedgerUpdate',
  'Milestone',
  'Nft',
  'Output',
  'Token',
  'Transaction',
  'Validator',
])

/** A decoded global id. The name of its type is empty if the text was none. */
export interface NodeId {
  readonly typename: string
  readonly id: string
}

/** Encodes the global id of an object. */
export function encodeNodeId(typename: string, id: string | number | bigint): string {
  return Buffer.from(`${typename}:${id}`, 'latin1').toString('base64url')
}

/**
 * Decodes a global id. For a text that `encodeNodeId` does not produce the name of the type is empty: an error would fail the whole list
 * of ids that contains the text.
 */
export function decodeNodeId(text: string): NodeId {
  // A request may name one long text a thousand times.
  if (text.length > maxNodeIdLength) return { typename: '', id: text }
  const decoded = Buffer.from(text, 'base64url').toString('latin1')
  // The id of a chain record may contain further colons.
  const at = decoded.indexOf(':')
  const [typename, id] = [decoded.slice(0, Math.max(at, 0)), decoded.slice(at + 1)]
  const isNone = !nodeTypes.has(typename) || encodeNodeId(typename, id) !== text
  return isNone ? { typename: '', id: text } : { typename, id }
}

/** Maximum characters of a global id: more than those of the longest, which has an address in Bech32. */
const maxNodeIdLength = 2_048

/** Parses an identifier of the protocol. Returns `undefined` for other texts. */
export function protocolId<I extends Hex>(text: string, bytes: number): I | undefined {
  return text.length === 2 + 2 * bytes && /^0x[0-9a-f]*$/.test(text) ? (text as I) : undefined
}

/** Parses an unsigned integer of 32 bits. Returns `undefined` for other texts. */
export function indexId(text: string): number | undefined {
  return /^(0|[1-9][0-9]{0,9})$/.test(text) && Number(text) < 2 ** 32 ? Number(text) : undefined
}
