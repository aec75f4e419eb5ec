import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { makeFolder, spawnProgram, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** Processes with a limit on open files and sockets. */
test.runIf(process.platform === 'linux')(
  'a process without file descriptors logs it once and continues when some are free',
  async () => {
    const folder = makeFolder()
    const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
    await untilHealth(gateway.url)
    const events = () =>
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
    await until(() => events().length > 0)
    // One or two further checks by the gateway.
    await delay(2_100)
    expect(events()).toHaveLength(1)
    expect(events()[0]).toMatchObject({
      level: 'warn',
      reason: expect.stringMatching(/^too many open files \(EMFILE\); new connections are cut$/),
    })

    for (const socket of crowd) socket.destroy()
    await until(() => events().length >= 2)
    expect(events()[1].event).toBe('files-free')
    await untilHealth(gateway.url)
    await gateway.end('SIGTERM')
    folder.remove()
  },
)

test.runIf(process.platform === 'linux')(
  'a process accepts fewer connections than its file limit, and logs it',
  async () => {
    const folder = makeFolder()
    const through = ['prlimit', '--nofile=128']
    const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl }, through)
    await untilHealth(gateway.url)
    const port = Number(new URL(gateway.url).port)
    const socketInUse = connect(port, '127.0.0.1').setEncoding('utf8')
    const ask = async (path: string): Promise<string> => {
      socketInUse.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`)
      return String((await once(socketInUse, 'data'))[0])
    }
    expect(await ask('/health/live')).toContain('200 OK')
    const crowd = Array.from({ length: 150 }, () => connect(port, '127.0.0.1'))
    for (const socket of crowd) socket.on('error', () => {})
    await Promise.race(crowd.map((socket) => once(socket, 'close')))
    await until(() => gateway.logged().includes('sockets-full'))
    expect(gateway.logged()).toContain('64 connections are open, and more are cut')
    // The database and the log still have free file descriptors.
    expect(await ask('/api/core/v3/info')).toContain('200 OK')
    for (const socket of crowd) socket.destroy()
    await untilHealth(gateway.url)
    expect(gateway.logged()).not.toContain('files-exhausted')
    socketInUse.destroy()
    await gateway.end('SIGTERM')
    folder.remove()
  },
)

test.runIf(process.platform === 'linux')(
  'a process whose limit is too low for the thread of the database says so in one sentence',
  async () => {
    const folder = makeFolder()
    const refused = spawnProgram({ DATABASE_URL: folder.databaseUrl }, ['prlimit', '--nofile=24'])
    await expect(refused.ready).rejects.toThrow('ended with 1')
    const sentences = refused
      .logged()
      .split('\n')
      .filter((line) => !line.startsWith('{'))
    expect(sentences).toEqual([
      `ledger-gateway serve: the database cannot be used: ${folder.databaseFile}: the thread of the database did not start: Worker initialization failure: EMFILE`,
      '',
    ])
    folder.remove()
  },
)
