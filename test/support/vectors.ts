import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** One test vector: named, and otherwise as its file's section of the vectors' README describes. */
export interface Vector {
  readonly name: string
  readonly kind?: string
  readonly params?: string
}

/**
 * The vectors of one file under `test/vectors`, which holds them compressed. The caller names the members it
 * reads; a file of another shape makes its test fail at the first of them.
 */
export function loadVectors<T extends Vector>(file: string): readonly T[] {
  const packed = readFileSync(new URL(`../vectors/${file}.json.gz`, import.meta.url))
  return JSON.parse(gunzipSync(packed).toString('utf8')).vectors
}
