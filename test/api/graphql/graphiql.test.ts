import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServedLog, serveLog } from '../../support/serve-log.ts'

let served: ServedLog
beforeAll(async () => {
  served = await serveLog()
})
afterAll(() => served.close())

test('other requests are served while the page is built', async () => {
  let isOver = false
  let before = process.threadCpuUsage()
  let longestMs = 0
  const turn = () => {
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    before = process.threadCpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const headers = { accept: 'text/html' }
  const response = await fetch(`${served.url}/graphql`, { method: 'HEAD', headers })
  isOver = true
  expect(response.headers.get('content-type')).toContain('text/html')
  // Loading the parts of the page takes 150 ms.
  expect(longestMs).toBeLessThan(100)
})
