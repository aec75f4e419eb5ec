import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import type { StopSignal } from '../../src/cli/command.ts'
import { demo } from '../../src/cli/demo.ts'
import { runCommand } from '../support/run-command.ts'

/** `ledger-gateway demo`. */

test('the demonstration prints JSON that shows equal updates by all three transports', async () => {
  const { stdout, code } = await runCommand(demo, [])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.at(-1)).toEqual({ agrees: true })
  const shown = lines.flatMap(({ transport, updates }) => (updates ? [[transport, updates]] : []))
  expect(shown.map(([transport]) => transport)).toEqual(['subscription', 'query', 'REST'])
  expect(new Set(shown.map(([, updates]) => JSON.stringify(updates))).size).toBe(1)
  expect(code).toBe(0)
})

test('the demonstration ends with a message when it is interrupted', async () => {
  let interrupt = () => {}
  const stopped = new Promise<StopSignal>((resolve) => {
    interrupt = () => resolve('SIGINT')
  })
  const output: string[] = []
  const stdout = (text: string) => {
    output.push(text)
    if (text.startsWith('Following')) interrupt()
  }
  const { stderr, code } = await runCommand(demo, [], { stopped, stdout, isTerminal: true })
  expect([code, stderr]).toEqual([1, 'ledger-gateway demo: interrupted\n'])
  expect(output.join('')).not.toContain('agree')
})

test('the demonstration names the temporary folder that does not exist', async () => {
  vi.stubEnv('TMPDIR', '/does/not/exist')
  vi.stubEnv('TEMP', '/does/not/exist')
  const { stdout, stderr, code } = await runCommand(demo, [])
  vi.unstubAllEnvs()
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^ledger-gateway demo: .*ledger-gateway-demo-\w+: no such file or directory \(ENOENT\)\n$/,
  )
})

test('the demonstration removes its folder when the reader of its output ends', async () => {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'ledger-gateway-head-'))
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const env = { ...process.env, TMPDIR, TEMP: TMPDIR }
  const child = spawn(process.execPath, [main, 'demo'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  expect(readdirSync(TMPDIR)).toEqual([expect.stringMatching(/^ledger-gateway-demo-/)])
  child.stdout.destroy()
  expect(await ended).toEqual([1, null])
  expect(readdirSync(TMPDIR)).toEqual([])
  rmSync(TMPDIR, { recursive: true })
})
