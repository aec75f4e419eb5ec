import { getHeapSpaceStatistics } from 'node:v8'
import { present } from '../../src/lib/assert.ts'
import { Block } from '../../src/protocol/block.ts'
import { decode } from '../../src/protocol/schema/schema.ts'
import { largeBlocks } from './large-blocks.ts'

/**
 * Decodes a block of the named shape 1,000 times without a collection, and prints the growth of the young generation, minus the
 * bytes that survive a full collection, per decoded byte. Needs `--expose-gc` and a large young generation.
 */

const times = 1_000
const bytes = present(largeBlocks().get(process.argv[2] ?? ''), 'a shape')
const collect = present(globalThis.gc, '--expose-gc')

// Warms up, because compiling creates garbage too.
for (let i = 0; i < 2_000; i++) decode(Block, bytes)
collect()
const before = used()
for (let i = 0; i < times; i++) decode(Block, bytes)
const grown = used() - before
collect()
const survived = used() - before
console.log(((grown - survived) / times / bytes.length).toFixed(2))

function used(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^new/.test(space_name))
  return spaces.reduce((sum, space) => sum + space.space_used_size, 0)
}
