import { getHeapSpaceStatistics } from 'node:v8'
import { present } from '../../src/lib/assert.ts'
import { Block } from '../../src/protocol/block.ts'
import { decode } from '../../src/protocol/schema/schema.ts'
import { largeBlocks } from './large-blocks.ts'

/**
 * Prints how much the young generation grows while a block of the named shape is decoded 1,000 times without a
 * collection, less what survives a full one, in bytes for each byte decoded. Needs `--expose-gc` and room.
 */

const times = 1_000
const bytes = present(largeBlocks().get(process.argv[2] ?? ''), 'a shape')
const collect = present(globalThis.gc, '--expose-gc')

// Code that is still being compiled makes garbage of its own.
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
