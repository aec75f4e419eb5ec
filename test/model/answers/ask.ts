import type { Hex } from '../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import { graphql } from '../../support/client.ts'
import type { Random } from '../../support/random.ts'
import type { Differences } from '../differences.ts'
import type { LogRow } from '../log.ts'
import type { Model } from '../model.ts'
import { bytesOf, type StoredBlock } from '../stored-ledger.ts'

/** Asks a gateway by GraphQL, many things in one operation. */

/** What a comparison of answers needs. */
export interface Asking {
  readonly url: string
  readonly model: Model
  readonly random: Random
  readonly differ: Differences
}

// biome-ignore lint/suspicious/noExplicitAny: the caller chooses the fields
type Answer = any

/** Queries the same field for each element of a list. */
export async function askEach<T>(
  url: string,
  list: readonly T[],
  field: (one: T) => string,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let at = 0; at < list.length; at += atOnce) {
    const fields = list.slice(at, at + atOnce).map((one, i) => `a${i}: ${field(one)}`)
    const { data, errors } = await graphql(url, `{ ${fields.join('\n')} }`)
    if (errors !== undefined) throw new Error(`${errors[0]?.message} in ${fields.join('\n')}`)
    answers.push(...fields.map((_, i) => data[`a${i}`]))
  }
  return answers
}

/** Expects the error of a code for each element of a list. */
export async function refuseEach<T>(
  { url, differ }: Pick<Asking, 'url' | 'differ'>,
  list: readonly T[],
  { field, code }: { readonly field: (one: T) => string; readonly code: string },
): Promise<void> {
  for (const one of list) {
    const { errors } = await graphql(url, `{ ${field(one)} }`)
    differ.equal(field(one), errors?.[0]?.extensions.code, code)
  }
}

/** An operation has a limit of cost. */
const atOnce = 10

/** A few random elements of a list, at most `most`. */
export function some<T>(random: Random, list: readonly T[], most: number): T[] {
  return random.shuffled(list).slice(0, most)
}

/** The Bech32 text of an address key. */
export function textOf(hrp: string, key: Hex): string {
  return encodeBech32(hrp, bytesOf(key))
}

/** The rows that were not pruned. */
export function keptRows({ rows, kept }: Model): readonly LogRow[] {
  return rows.slice(kept.after)
}

/** The blocks that were not pruned. */
export function keptBlocks({ ledger, kept }: Model): StoredBlock[] {
  return ledger.blocks.filter(({ blockId }) => kept.blocks.has(blockId))
}

/** Every address with a row in the log. */
export function addressesOf({ rows }: Model): Hex[] {
  return [...new Set(rows.map(({ address }) => address))]
}
