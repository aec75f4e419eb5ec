import { expect, test } from 'vitest'
import type { StopSignal } from '../../src/cli/command.ts'
import { demo } from '../../src/cli/demo.ts'
import { runCommand } from '../support/run-command.ts'

/** `ledger-gateway demo` as people see it. */

test('it shows programs that the three agree', async () => {
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

test('it ends when it is interrupted, and says so', async () => {
  let interrupt = () => {}
  const stopped = new Promise<StopSignal>((resolve) => {
    interrupt = () => resolve('SIGINT')
  })
  const said: string[] = []
  const stdout = (text: string) => {
    said.push(text)
    if (text.startsWith('Following')) interrupt()
  }
  const { stderr, code } = await runCommand(demo, [], { stopped, stdout, isTerminal: true })
  expect([code, stderr]).toEqual([1, 'ledger-gateway demo: interrupted\n'])
  expect(said.join('')).not.toContain('agree')
})
