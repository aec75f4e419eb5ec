import { connect } from 'node:net'
import type { SubscribePayload } from 'graphql-ws'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { Block } from '../../../src/protocol/block.ts'
import type { BlockId } from '../../../src/protocol/primitives.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { Payload } from '../../../src/protocol/transaction.ts'
import { type GraphqlAnswer, graphql, socketClient } from '../../support/client.ts'
import { inputOf } from '../../support/protocol-input.ts'

/** Every way in for a block. MQTT is none: its clients cannot publish. */

/** The ways. */
export const ways = [
  'bytes',
  'json',
  'graphql-bytes',
  'graphql-json',
  'graphql-input',
  'graphql-twice',
  'websocket',
  'cut',
] as const
export type Way = (typeof ways)[number] | (typeof payloadWays)[number]

/** The ways in for a payload alone, around which the node builds a block of its own account. */
export const payloadWays = ['payload', 'graphql-payload'] as const

/** A signed block in both forms. */
export interface FinishedBlock {
  readonly block: Block
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The response: 201, or the status of the error. */
export interface Submission {
  readonly status: number
  readonly message: string
  readonly blockIds: readonly BlockId[]
}

/** Submits a block. */
export async function submitBlock(
  url: string,
  block: FinishedBlock,
  way: Way,
): Promise<Submission> {
  switch (way) {
    case 'bytes':
      return post(url, block.bytes)
    case 'json':
      return post(url, JSON.stringify(print(Block, block.block)))
    case 'graphql-bytes':
      return byGraphql(url, { bytes: bytesToHex(block.bytes) })
    case 'graphql-json':
      return byGraphql(url, { json: print(Block, block.block) })
    case 'graphql-input':
      return byGraphql(url, { block: inputOf(Block, print(Block, block.block)) })
    case 'graphql-twice':
      return twice(url, block)
    case 'websocket':
      return byWebSocket(url, block)
    case 'payload':
      return post(url, JSON.stringify(payloadOf(block)))
    case 'graphql-payload':
      return byGraphql(url, { payload: inputOf(Payload, payloadOf(block)) })
    case 'cut':
      await cut(url, block)
      // The client does not know whether the block arrived, and sends it again.
      return post(url, block.bytes)
  }
}

function payloadOf({ block: { body } }: FinishedBlock): unknown {
  const payload = body.type === 0 ? body.payload : undefined
  return print(Payload, present(payload, 'a payload'))
}

async function post(url: string, body: string | Uint8Array<ArrayBuffer>): Promise<Submission> {
  const isText = typeof body === 'string'
  const type = isText ? 'application/json' : 'application/vnd.iota.serializer-v2'
  const headers = { 'content-type': type }
  const response = await fetch(`${url}/api/core/v3/blocks`, { method: 'POST', headers, body })
  const { blockId, error } = await response.json()
  const blockIds = blockId === undefined ? [] : [blockId]
  return { status: response.status, message: error?.message ?? '', blockIds }
}

const mutation =
  'mutation ($input: SubmitBlockInput!) { a: submitBlock(input: $input) { blockId } }'

async function byGraphql(url: string, input: object): Promise<Submission> {
  return fromAnswer(await graphql(url, mutation, { input }))
}

/** The mutations of one document run one after another, and the second finds the block of the first. */
async function twice(url: string, { block, bytes }: FinishedBlock): Promise<Submission> {
  const query = `mutation ($bytes: SubmitBlockInput!, $json: SubmitBlockInput!) {
    a: submitBlock(input: $bytes) { blockId }
    b: submitBlock(input: $json) { blockId }
  }`
  const variables = { bytes: { bytes: bytesToHex(bytes) }, json: { json: print(Block, block) } }
  return fromAnswer(await graphql(url, query, variables))
}

async function byWebSocket(url: string, { bytes }: FinishedBlock): Promise<Submission> {
  const client = socketClient(url)
  const payload: SubscribePayload = {
    query: mutation,
    variables: { input: { bytes: bytesToHex(bytes) } },
  }
  const { value } = await client.iterate(payload).next()
  await client.dispose()
  return fromAnswer(value as GraphqlAnswer)
}

function fromAnswer({ data, errors = [] }: GraphqlAnswer): Submission {
  const [error] = errors
  if (error === undefined) {
    const results: { readonly blockId: BlockId }[] = Object.values(data)
    return { status: 201, message: '', blockIds: results.map(({ blockId }) => blockId) }
  }
  return { status: statusOf(error.extensions.code), message: error.message, blockIds: [] }
}

function statusOf(code: string): number {
  return code === 'LEDGER_UNAVAILABLE' ? 503 : 400
}

/** Sends a block and closes the connection before the response. */
function cut(url: string, { bytes }: FinishedBlock): Promise<void> {
  const { port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.once('close', () => resolve()).once('error', () => {})
    const head = [
      'POST /api/core/v3/blocks HTTP/1.1',
      'host: 127.0.0.1',
      'content-type: application/vnd.iota.serializer-v2',
      `content-length: ${bytes.length}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    socket.write(bytes, () => socket.destroy())
  })
}
