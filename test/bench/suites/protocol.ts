import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Utils } from '@iota/sdk-wasm/node/lib/index.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { present } from '../../../src/lib/assert.ts'
import { Block } from '../../../src/protocol/block.ts'
import {
  identifyBlock,
  identifyTransaction,
  transactionBytesIn,
} from '../../../src/protocol/ids.ts'
import { decode, encode, parse } from '../../../src/protocol/schema/schema.ts'
import { slotOfTime } from '../../../src/protocol/slots.ts'
import type { InspectedVector } from '../../support/vector-lines.ts'
import { parameterSets, vectorNetworks } from '../../support/vector-networks.ts'
import { loadVectors } from '../../support/vectors.ts'
import { largeBlocks } from '../large-blocks.ts'
import { compare, printTable } from '../measure.ts'

/** Measures the speed of `src/protocol`, and the garbage that it creates. */

const rounds = 7
const { parameters } = present(vectorNetworks.get('standard'), 'the network')

export async function run(): Promise<void> {
  console.log('Parsed JSON to bytes and block id, compared with the SDK (target: 4.0)\n')
  printTable([['block', 'bytes', 'gateway µs', 'SDK µs', 'ratio'], ...smallBlocks.map(againstSdk)])
  console.log(
    '\nBytes to value, block id and transaction id, compared with one BLAKE2b of noble (target: 1.0)\n',
  )
  const shapes = [...largeBlocks()]
  printTable([['block', 'bytes', 'gateway µs', 'noble µs', 'ratio'], ...shapes.map(againstNoble)])
  console.log('\nGarbage of 1,000 decodes, in bytes per decoded byte (target: 6.0)\n')
  printTable([['block', 'garbage'], ...shapes.map(([name]) => [name, garbageOf(name)])])
}

const smallBlocks = [
  ['tagged data', 'block/tagged-data/random-1'],
  ['transaction', 'block/transaction/unlock/all-kinds'],
] as const

function againstSdk([name, vectorName]: readonly [string, string]): string[] {
  const vectors = ['blocks', 'transactions'].flatMap((file) => loadVectors<InspectedVector>(file))
  const vector = vectors.find((one) => one.name === vectorName)
  const { json, size = 0 } = present(vector, vectorName)
  const [block, sdkParameters] = [Object(json), Object(parameterSets.get('standard'))]
  const { firstUs, secondUs, ratio } = compare(
    () => {
      const value = parse(Block, json)
      if (!value.ok) throw new Error(value.error.code)
      return blockIdOf(value.value, encode(Block, value.value))
    },
    () => [Utils.blockBytes(block), Utils.blockId(block, sdkParameters)],
    { rounds, times: 1_000 },
  )
  return [name, `${size}`, firstUs.toFixed(1), secondUs.toFixed(1), ratio.toFixed(2)]
}

function againstNoble([name, bytes]: readonly [string, Uint8Array]): string[] {
  const { firstUs, secondUs, ratio } = compare(
    () => {
      const block = decode(Block, bytes)
      if (!block.ok) throw new Error(block.error.code)
      const { body } = block.value
      if (body.type !== 0) throw new Error('not basic')
      const { payload } = body
      const transaction =
        payload?.type === 1 &&
        identifyTransaction(payload.transaction, transactionBytesIn(bytes, body, payload))
      return [blockIdOf(block.value, bytes), transaction]
    },
    () => blake2b(bytes, { dkLen: 32 }),
    { rounds, times: 100 },
  )
  return [name, `${bytes.length}`, firstUs.toFixed(0), secondUs.toFixed(0), ratio.toFixed(2)]
}

function blockIdOf({ header }: Block, bytes: Uint8Array): string {
  return identifyBlock(bytes, slotOfTime(parameters, header.issuingTime)).blockId
}

/** Measures the garbage in another process, whose young generation has room for all of it. */
function garbageOf(shape: string): string {
  const script = fileURLToPath(new URL('../garbage.ts', import.meta.url))
  const flags = ['--expose-gc', '--min-semi-space-size=1024', '--max-semi-space-size=1024']
  const child = spawnSync(process.execPath, [...flags, script, shape])
  if (child.status !== 0) throw new Error(child.stderr.toString())
  return child.stdout.toString().trim()
}
