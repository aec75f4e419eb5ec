import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { scopes } from '../../src/api/tokens/token.ts'
import * as commandRoom from '../../src/cli/command.ts'
import { exitCodes } from '../../src/cli/command.ts'
import { commandOf } from '../../src/cli/commands.ts'
import { flagForms } from '../../src/cli/declaration.ts'
import { tokenDeclaration } from '../../src/cli/declarations/gateway.ts'
import { commands } from '../../src/cli/help.ts'
import { helpText } from '../../src/cli/help-text.ts'
import { topics } from '../../src/cli/topics.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { runCommand } from '../support/run-command.ts'

/** Runs the program with these arguments. */
async function run(...[name, ...words]: readonly string[]) {
  return runCommand({ run: await commandOf(name) }, words, {
    clock: systemClock,
    env: {},
  })
}

describe('the program', () => {
  test.each([['--help'], ['-h'], ['help']])('lists its commands with %s', async (word) => {
    const { code, stdout, stderr } = await run(word)
    expect([code, stderr]).toEqual([0, ''])
    for (const { name, summary } of commands)
      expect(stdout).toMatch(`${name.padEnd(16)}  ${summary}`)
  })

  test.each([['--version'], ['-v']])('prints its version with %s', async (word) => {
    const { code, stdout, stderr } = await run(word)
    expect([code, stdout, stderr]).toEqual([0, `${packageJson.version}\n`, ''])
  })

  test.each([[['wrong']], [['help', 'wrong']], [['--wrong']]])('rejects %j', async (words) => {
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout]).toEqual([2, ''])
    const what = words.length > 1 ? 'neither a command nor a topic' : 'not a command'
    expect(stderr).toContain(`ledger-gateway: ${words.at(-1)} is ${what}\n`)
  })

  test('rejects a second name after help', async () => {
    expect(await run('help', 'serve', 'wrong')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'ledger-gateway help: only one NAME is allowed\nTry: ledger-gateway help --help\n',
    })
  })

  test.each([
    [['sevre'], 'serve'],
    [['help', 'exit-code'], 'exit-codes'],
    [['rebuild_activity'], 'rebuild-activity'],
    [['--hlep'], '--help'],
  ])('suggests the nearest command for %j', async (words, meant) => {
    const { code, stderr } = await run(...words)
    expect(code).toBe(2)
    // Two lines only: the suggestion would be lost after the whole list of commands.
    expect(stderr).toMatch(new RegExp(`; did you mean ${meant}\\?\nTry: ledger-gateway help\n$`))
  })

  test.each([
    [['serve', '--prot', '1'], '--prot is unknown; did you mean --port?'],
    [['backup', 'x', '--forec'], '--forec is unknown; did you mean --force?'],
    [['status', '--wholly-else'], '--wholly-else is unknown\n'],
    [['check', 'postgres://me:hush@host/db'], ': postgres://[secret]@host/db is not expected'],
    [
      ['status', 'http://me:hush@host'],
      'URL must be http(s)://HOST[:PORT][/PATH], not http://[sec',
    ],
    [['serve', '--constructor=x'], '--constructor is unknown'],
    [['backup', ''], 'FILE is required\n'],
    [['status', ''], 'URL is required\n'],
    [['import', '--file', ''], '--file needs a value\n'],
  ])('refuses %j, and suggests the nearest flag', async (words, sentence) => {
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('hush')
  })

  test('prints each topic and the list of topics', async () => {
    const { stdout: list } = await run('help', 'topics')
    for (const { name, summary, text } of topics) {
      expect(list).toContain(`${name.padEnd(10)}  ${summary}\n`)
      expect(await run('help', name)).toMatchObject({ code: 0, stdout: text })
    }
  })

  test('prints the same help of a command with help and --help', async () => {
    const { code, stdout } = await run('help', 'token')
    expect(code).toBe(0)
    expect(await run('token', '--help')).toMatchObject({ code: 0, stdout })
  })
})

describe('the declarations', () => {
  test('each belong to a command that prints their help', async () => {
    for (const declaration of commands) {
      const { code, stdout } = await run(declaration.name, '--help')
      expect([declaration.name, code, stdout]).toEqual([declaration.name, 0, helpText(declaration)])
    }
  })

  test('list every scope of a token', () => {
    const scope = flagForms(tokenDeclaration).find(({ name }) => name === 'scope')
    expect(scope?.choices).toEqual(scopes)
  })

  test('contain no flag twice', () => {
    for (const declaration of commands) {
      const names = flagForms(declaration).map(({ name }) => name)
      expect(names).toEqual([...new Set(names)])
    }
  })
})

test('the documented exit codes are those of the program', () => {
  const codes = Object.values(commandRoom).filter((value) => typeof value === 'number')
  expect(exitCodes.map(({ code }) => code)).toEqual(codes.toSorted((a, b) => a - b))
  // The entry ends the process only with these codes.
  const entry = readFileSync(new URL('../../src/main.ts', import.meta.url), 'utf8')
  const ends = [...entry.matchAll(/process\.exit\((\w+)\)/g)].map(([, name = '']) => name)
  expect(ends.length).toBeGreaterThan(1)
  for (const name of ends) expect(codes).toContain(Reflect.get(commandRoom, name))
})
