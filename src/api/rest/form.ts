/** The forms of what routes take and answer, as JSON Schema (draft 2020-12) written in short. */

/** A JSON Schema. */
export interface Shape {
  readonly [keyword: string]: unknown
}

/** A member that may be left out. */
export interface Optional {
  readonly optional: Shape
}

/** The members of an object, each there unless it is optional. */
export interface ShapeMembers {
  readonly [name: string]: Shape | Optional
}

/** Marks a member that may be left out. */
export function optional(shape: Shape): Optional {
  return { optional: shape }
}

/** An object with these members. */
export function object(members: ShapeMembers): Shape {
  const entries = Object.entries(members)
  const required = entries.filter(([, member]) => !isOptional(member)).map(([name]) => name)
  const properties = entries.map(([name, member]) => [
    name,
    isOptional(member) ? member.optional : member,
  ])
  return { type: 'object', properties: Object.fromEntries(properties), required }
}

/** A list, at most `max` long where it has a limit. */
export function listOf(items: Shape, max?: number): Shape {
  return { type: 'array', items, ...(max !== undefined && { maxItems: max }) }
}

/** Any text. */
export const text: Shape = { type: 'string' }

/** An object of any kind. */
export const anyObject: Shape = { type: 'object' }

/** `true` or `false`. */
export const flag: Shape = { type: 'boolean' }

/** A whole number from 0 to 2^32 - 1. */
export const uint32: Shape = { type: 'integer', minimum: 0, maximum: 0xffff_ffff }

/** A whole number from 0 that JSON holds exactly. */
export const count: Shape = { type: 'integer', minimum: 0 }

/** A whole number of 64 bits, as decimal text. */
export const uint64: Shape = { type: 'string', pattern: '^[0-9]{1,20}$' }

/** A whole number of 64 bits that may be below zero, as decimal text. */
export const int64: Shape = { type: 'string', pattern: '^-?[0-9]{1,19}$' }

/** A number of any kind, as decimal text. */
export const decimal: Shape = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$' }

/** A moment, ISO 8601 in UTC. */
export const moment: Shape = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$',
}

/** One of some words. */
export function word(...words: readonly [string, ...string[]]): Shape {
  return { type: 'string', enum: words }
}

/** The Bech32 text of an address. */
export const bech32: Shape = { type: 'string', pattern: '^[!-~]+1[02-9ac-hj-np-zAC-HJ-NP-Z]+$' }

/** A form that the document describes once, under a name. */
export function named(name: string): Shape {
  return { $ref: `#/components/schemas/${name}` }
}

/** The same form with a sentence on what it means at this place. */
export function about(sentence: string, shape: Shape): Shape {
  return { ...shape, description: sentence }
}

function isOptional(member: Shape | Optional): member is Optional {
  return 'optional' in member
}
