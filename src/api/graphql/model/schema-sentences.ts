import { assert, present } from '../../../lib/assert.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import { type AnyStruct, nodeOf, type ProtocolTypes, type SchemaNode } from './protocol-types.ts'

/** Descriptions of protocol types and their members: the sentence of the declaration, with limits and type codes. */

/** Returns the description of a type, with its type code if it has one. */
export function typeSentence(struct: AnyStruct): string {
  const sentence = sentenceOf(present(struct.about, `a sentence about ${struct.name}`))
  return struct.code === undefined ? sentence : `${sentence} Type code ${struct.code}.`
}

/** Returns the description of a family: its kinds with their type codes. */
export function familySentence(variants: readonly AnyStruct[]): string {
  const kinds = variants.map(({ name, code }) => `${name} (${code})`).join(', ')
  return `A value of one of these kinds, distinguished by the type code: ${kinds}.`
}

/** Returns the description of a member, with its limits, and with the allowed kinds if they are fewer than those of the family. */
export function memberSentence(member: Schema<unknown>, types: ProtocolTypes): string {
  const allowed = kindsAllowed(nodeOf(member), types)
  const kinds = allowed === undefined ? '' : ` Allowed here: ${allowed.join(', ')}.`
  return `${commonSentence(member)}${kinds}`
}

/** Returns the description of a member that all kinds of a family have. It has no allowed kinds, which may differ between them. */
export function commonSentence(member: Schema<unknown>): string {
  const about = aboutOf(nodeOf(member))
  assert(about !== undefined, `a sentence about a ${member.kind}`)
  return sentenceOf(about + limitsBeside(about, nodeOf(member)))
}

/** Returns the sentence of the member, or of its element type. */
function aboutOf(node: SchemaNode): string | undefined {
  if (node.about !== undefined) return node.about
  return node.kind === 'list' || node.kind === 'optional' ? aboutOf(nodeOf(node.of)) : undefined
}

/** Returns the limits in parentheses, unless the sentence states them. */
function limitsBeside(about: string, node: SchemaNode): string {
  const limits = limitsOf(node)
  if (limits === undefined || /\d to (\d|the sum)|at most (\d|one)/.test(about)) return ''
  return about.includes('above 0') ? ` (${limits.replace(/^0 to/, 'at most')})` : ` (${limits})`
}

function limitsOf(node: SchemaNode): string | undefined {
  switch (node.kind) {
    case 'uint':
      return `0 to ${node.bits <= 32 ? 2 ** node.bits - 1 : `2^${node.bits} - 1`}`
    case 'bytes':
      return node.min === node.max ? `${node.max} bytes` : `${node.min} to ${node.max} bytes`
    case 'text':
      return 'at most 255 bytes of UTF-8'
    case 'list':
      return `${node.min} to ${node.max} elements`
    case 'optional':
      return limitsOf(nodeOf(node.of))
    case 'struct':
    case 'union':
    case 'map':
      return undefined
  }
}

function kindsAllowed(node: SchemaNode, types: ProtocolTypes): readonly string[] | undefined {
  if (node.kind === 'list' || node.kind === 'optional') return kindsAllowed(nodeOf(node.of), types)
  if (node.kind !== 'union') return undefined
  const family = types.families.get(node.name) ?? []
  if (node.variants.length === family.length) return undefined
  return node.variants.map(({ name }) => name)
}

/** Adds an initial capital letter and a full stop. */
function sentenceOf(words: string): string {
  const sentence = words.charAt(0).toUpperCase() + words.slice(1)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
