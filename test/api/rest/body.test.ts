import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { readBody } from '../../../src/api/rest/body.ts'

/** Returns the bytes of the heap after a garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose_gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** Sends a request without its body, and returns both ends of the connection. */
async function open() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port)
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const [message]: IncomingMessage[] = await once(server, 'request')
  if (message === undefined) throw new Error('a request')
  return { socket, message }
}

const count = 30_000

test('a body in chunks of one byte takes about as much memory as its bytes', async () => {
  const { socket, message } = await open()
  const body = readBody(message, 'client')
  let received = 0
  const arrived = new Promise<void>((resolve) => {
    message.on('data', ({ length }: Buffer) => {
      received += length
      if (received === count) resolve()
    })
  })
  const chunks = Buffer.alloc(6 * count, '1\r\nx\r\n')
  const before = heapUsed()
  socket.write(chunks)
  await arrived
  expect(heapUsed() - before).toBeLessThan(100 * count)
  socket.write('0\r\n\r\n')
  expect(await body).toEqual({ ok: true, value: Buffer.alloc(count, 'x') })
})

test('the connection of a body in too many chunks is closed', async () => {
  const { socket, message } = await open()
  const body = readBody(message, 'client')
  socket.on('error', () => {}).write('1\r\nx\r\n'.repeat(32_769))
  await Promise.all([once(socket, 'close'), expect(body).rejects.toThrow('aborted')])
})

test('a body that is too long is refused, in however many chunks it arrives', async () => {
  const { socket, message } = await open()
  const body = readBody(message, 'client')
  const chunk = `80000\r\n${'x'.repeat(0x80000)}\r\n`
  socket.write(`${chunk}${chunk}1\r\nx\r\n`)
  expect(await body).toMatchObject({ ok: false, error: { code: 'BODY_TOO_LARGE' } })
})
