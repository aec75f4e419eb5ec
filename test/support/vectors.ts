import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** A test vector with a name. The README of the vectors describes the other members of each file. */
export interface Vector {
  readonly name: string
  readonly kind?: string
  readonly params?: string
}

/**
 * The vectors of one compressed file in `test/vectors`. The caller declares the members that it reads; if the file has another
 * shape, the test fails at the first missing member.
 */
export function loadVectors<T extends Vector>(file: string): readonly T[] {
  const packed = readFileSync(new URL(`../vectors/${file}.json.gz`, import.meta.url))
  return JSON.parse(gunzipSync(packed).toString('utf8')).vectors
}
