import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { makeFolder, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** The system lets the process open so many files and sockets, and no more. */
test.runIf(process.platform === 'linux')(
  'a process without file descriptors says so once, and goes on when there are some',
  async () => {
    const folder = makeFolder()
    const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
    await untilHealth(gateway.url)
    const said = () =>
      gateway
        .logged()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event === 'files-exhausted' || event === 'files-free')

    execFileSync('prlimit', ['--pid', String(gateway.process.pid), '--nofile=60:'])
    const port = Number(new URL(gateway.url).port)
    const crowd = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
    for (const socket of crowd) socket.on('error', () => {})
    await Promise.race(crowd.map((socket) => once(socket, 'close')))
    await until(() => said().length > 0)
    // One or two looks more.
    await delay(2_100)
    expect(said()).toHaveLength(1)
    expect(said()[0]).toMatchObject({
      level: 'warn',
      reason: expect.stringMatching(/^EMFILE: .*; new connections are cut$/),
    })

    for (const socket of crowd) socket.destroy()
    await until(() => said().length >= 2)
    expect(said()[1].event).toBe('files-free')
    await untilHealth(gateway.url)
    await gateway.end('SIGTERM')
    folder.remove()
  },
)

test.runIf(process.platform === 'linux')(
  'a process takes fewer connections than it may have files, and says so',
  async () => {
    const folder = makeFolder()
    const through = ['prlimit', '--nofile=128']
    const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl }, through)
    await untilHealth(gateway.url)
    const port = Number(new URL(gateway.url).port)
    const asking = connect(port, '127.0.0.1').setEncoding('utf8')
    const ask = async (path: string): Promise<string> => {
      asking.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`)
      return String((await once(asking, 'data'))[0])
    }
    expect(await ask('/health/live')).toContain('200 OK')
    const crowd = Array.from({ length: 150 }, () => connect(port, '127.0.0.1'))
    for (const socket of crowd) socket.on('error', () => {})
    await Promise.race(crowd.map((socket) => once(socket, 'close')))
    await until(() => gateway.logged().includes('sockets-full'))
    expect(gateway.logged()).toContain('64 connections are open, and more are cut')
    // There is a descriptor for whatever the database and the log need.
    expect(await ask('/api/core/v3/info')).toContain('200 OK')
    for (const socket of crowd) socket.destroy()
    await untilHealth(gateway.url)
    expect(gateway.logged()).not.toContain('files-exhausted')
    asking.destroy()
    await gateway.end('SIGTERM')
    folder.remove()
  },
)
