import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Block } from '../../src/protocol/block.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { blockOfManyProblems } from '../support/broken-block.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { type Attack, concurrently, openGraphqlSocket, openSocket, scaled, send } from './target.ts'

/** Attacks on REST and MQTT, also with forged tokens and with cookies, which must have no effect. */

const json = { 'content-type': 'application/json' }
const record = JSON.stringify({ accessNodes: ['a'], isActive: true })
const recordPath = `/v1/chains/${chainIdOf(77)}/chainrecord`

const binary = { 'content-type': 'application/vnd.iota.serializer-v2' }
const brokenBlock = encode(Block, blockOfManyProblems())

/** Payloads with lists that are far too long. */
const longLists: readonly string[] = [
  { contextInputs: Array(300_000).fill({}) },
  { contextInputs: Array(450_000).fill(0) },
].map((transaction) => JSON.stringify({ type: 1, transaction, unlocks: [] }))

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Creates tokens that the gateway must refuse. */
function forgedTokens(): readonly string[] {
  const claims = part({ sub: 7, permissions: { write: {} }, exp: 4_000_000_000 })
  const { privateKey } = generateKeyPairSync('ed25519')
  const secret = `${part({ alg: 'HS256' })}.${claims}`
  const key = `${part({ alg: 'EdDSA', kid: 'mine', jku: 'http://127.0.0.1:1/keys' })}.${claims}`
  return [
    `${part({ alg: 'none' })}.${claims}.`,
    `${secret}.${createHmac('sha256', 'guess').update(secret).digest('base64url')}`,
    `${key}.${sign(null, Buffer.from(key), privateKey).toString('base64url')}`,
    'x'.repeat(7_000),
    `${'A'.repeat(3_000)}.${'A'.repeat(3_000)}.A`,
  ]
}

/** Encodes an MQTT packet, with its length in two bytes. */
function packet(head: number, bytes: readonly number[]): Buffer {
  return Buffer.from([head, (bytes.length % 128) + 128, Math.floor(bytes.length / 128), ...bytes])
}

/** A packet that unsubscribes from thousands of topics, and the beginning of a packet of a megabyte. */
const unsubscriptions = packet(0xa2, [0, 1, ...Array(2_000).fill([0, 1, 97]).flat()])
const megabyte = Buffer.concat([Buffer.from([0x82, 0x80, 0x80, 0x40]), Buffer.alloc(60_000)])

const mqttConnect = packet(0x10, [0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 0, 0, 1, 0x61])

function mqttSubscribe(topic: string): Buffer {
  return packet(0x82, [0, 1, 0, topic.length, ...Buffer.from(topic), 0])
}

export const restAttacks: readonly Attack[] = [
  {
    name: 'payloads alone',
    expected: ['201'],
    round: async (target) => {
      const answers: string[] = []
      for (let i = 0; i < scaled(target, 43); i++) {
        const data = `0x${'00'.repeat(8_000)}`
        const body = JSON.stringify({ type: 0, tag: `0x${i.toString(16).padStart(8, '0')}`, data })
        const posted = send(target, '/api/core/v3/blocks', {
          method: 'POST',
          headers: json,
          body,
        })
        answers.push((await posted).replace(/^(202|200)$/, '201'))
      }
      return answers
    },
  },
  {
    name: 'forms of a foreign page',
    expected: ['401', 'TOKEN_MISSING'],
    round: (target) =>
      concurrently(scaled(target, 20), (i) =>
        send(target, recordPath.replace('chainrecord', i % 2 ? 'deactivate' : 'activate'), {
          method: 'POST',
          headers: {
            cookie: `jwt=${target.token}`,
            origin: 'https://evil.example',
            'sec-fetch-site': 'cross-site',
          },
        }),
      ),
  },
  {
    name: 'tokens of strangers',
    expected: ['401'],
    round: async (target) => {
      const tokens = forgedTokens()
      const answers = await concurrently(scaled(target, 100), async (i) => {
        const authorization = tokens[i % tokens.length] ?? ''
        const headers = { ...json, authorization }
        const socket = await openGraphqlSocket(target, { authorization })
        return [
          await send(target, recordPath, { method: 'POST', headers, body: record }),
          socket === undefined ? 'refused' : 'a socket of a forged token',
        ]
      })
      return answers.flat()
    },
  },
  {
    name: 'bodies that are bombs',
    expected: ['CONTENT_ENCODING_REFUSED'],
    round: (target) => {
      const bomb = gzipSync(Buffer.alloc(20_000_000))
      const deep = `${'{"a":['.repeat(50_000)}`
      const bodies = [bomb, deep, 'x'.repeat(3_000_000), `{"query":${'1'.repeat(900_000)}}`]
      const paths = ['/graphql', '/api/core/v3/blocks', recordPath]
      return concurrently(scaled(target, 60), (i) => {
        const body = bodies[i % bodies.length] ?? ''
        const coding = body === bomb ? { 'content-encoding': 'gzip' } : undefined
        const headers = { ...json, ...coding, authorization: target.token }
        return send(target, paths[i % paths.length] ?? '', { method: 'POST', headers, body })
      })
    },
  },
  {
    name: 'blocks that break thousands of rules',
    expected: ['400'],
    round: (target) => {
      const bodies = [brokenBlock, ...longLists]
      return concurrently(scaled(target, 60), (i) => {
        const body = bodies[i % bodies.length] ?? ''
        const headers = body === brokenBlock ? binary : json
        return send(target, '/api/core/v3/blocks', { method: 'POST', headers, body })
      })
    },
  },
  {
    name: 'the largest pages of REST',
    expected: ['200'],
    round: (target) => {
      const paths = [
        '/api/explorer/v2/ledger/richest-addresses?top=1000',
        '/api/indexer/v2/outputs?pageSize=1000',
        '/api/explorer/v2/ledger/token-distribution',
        '/openapi.json',
        '/feed/updates?limit=1000',
      ]
      return concurrently(scaled(target, 100), (i) => send(target, paths[i % paths.length] ?? ''))
    },
  },
  {
    name: 'long polls that stay',
    expected: ['open'],
    round: async (target) => {
      const path = '/feed/updates?wait=60'
      const polls = await concurrently(scaled(target, 300), async () => {
        return Promise.race([send(target, path), delay(500, 'open')])
      })
      return polls.map((answer) => (/^(4\d\d|CURSOR_\w+|200)$/.test(answer) ? 'open' : answer))
    },
  },
  {
    name: 'MQTT topics by the thousand, unread',
    expected: ['open'],
    round: async (target) => {
      const sockets = await concurrently(scaled(target, 20), async () => {
        const socket = await openSocket(target, { path: '/api/mqtt/v2', protocol: 'mqtt' })
        socket?.send(mqttConnect)
        socket?.pause()
        for (let i = 0; i < scaled(target, 1_200); i++) {
          const id = i.toString(16).padStart(72, '0')
          socket?.send(mqttSubscribe(i % 100 === 0 ? 'blocks' : `block-metadata/0x${id}`))
        }
        return socket
      })
      await delay(200)
      return sockets.map((socket) => (socket === undefined ? 'refused' : 'open'))
    },
  },
  {
    name: 'MQTT packets by the thousand in one message, or byte by byte',
    expected: ['open', 'cut'],
    round: (target) =>
      concurrently(scaled(target, 20), async (i) => {
        const socket = await openSocket(target, { path: '/api/mqtt/v2', protocol: 'mqtt' })
        if (socket === undefined) return 'refused'
        const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('cut')))
        socket.send(mqttConnect)
        if (i % 3 === 0) socket.send(Buffer.alloc(60_000, Buffer.from([0xc0, 0])))
        else if (i % 3 === 1) for (const byte of unsubscriptions) socket.send(Uint8Array.of(byte))
        else socket.send(megabyte)
        return Promise.race([closed, delay(1_000, 'open')])
      }),
  },
  {
    name: 'MQTT packets that are none',
    expected: ['cut'],
    round: async (target) => {
      const packets = [
        Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]),
        Buffer.alloc(60_000, 0xff),
        packet(0x30, [0, 1, 0x61, ...Array(300).fill(0x61)]),
        Buffer.concat([mqttConnect, mqttConnect]),
      ]
      return concurrently(scaled(target, 20), async (i) => {
        const socket = await openSocket(target, { path: '/api/mqtt/v2', protocol: 'mqtt' })
        if (socket === undefined) return 'refused'
        const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('cut')))
        socket.send(packets[i % packets.length] ?? '')
        return Promise.race([closed, delay(1_000, 'open')])
      })
    },
  },
]
