import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { commandOf, commands } from '../../src/cli/help.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { runCommand } from '../support/run-command.ts'

/** Runs the program with these words. */
async function run(...[name, ...words]: readonly string[]) {
  return runCommand({ help: '', run: await commandOf(name) }, words, {
    clock: systemClock,
    env: {},
  })
}

describe('the program', () => {
  test.each([['--help'], ['-h'], ['help']])('lists its commands by %s', async (word) => {
    const { code, stdout, stderr } = await run(word)
    expect([code, stderr]).toEqual([0, ''])
    for (const { name, summary } of commands)
      expect(stdout).toMatch(`${name.padEnd(16)}  ${summary}`)
  })

  test.each([['--version'], ['-v']])('tells its version by %s', async (word) => {
    const { code, stdout, stderr } = await run(word)
    expect([code, stdout, stderr]).toEqual([0, `${packageJson.version}\n`, ''])
  })

  test.each([[['wrong']], [['help', 'wrong']], [['--wrong']]])('refuses %j', async (words) => {
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(`ledger-gateway: ${words.at(-1)} is no command\n`)
  })

  test('shows the help of a command both ways', async () => {
    const { code, stdout } = await run('help', 'token')
    expect(code).toBe(0)
    expect(await run('token', '--help')).toMatchObject({ code: 0, stdout })
  })
})
