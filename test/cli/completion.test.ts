import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completion } from '../../src/cli/completion.ts'
import { flagForms } from '../../src/cli/declaration.ts'
import { commands } from '../../src/cli/help.ts'
import { runCommand } from '../support/run-command.ts'

/** Runs the scripts of `ledger-gateway completion` in real shells; zsh and fish only if they are installed. */

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-completion-'))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runCommand(completion, [shell])
    expect(code).toBe(0)
    writeFileSync(join(folder, shell), stdout)
  }
  writeFileSync(join(folder, 'a file.backup'), '')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The words after the name of the program, the last one unfinished, and the expected completions. */
const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['st'], ['status']],
  [['re'], ['rebuild-activity', 'restore']],
  [['serve', '--sub'], ['--submit']],
  [
    ['serve', '--submit', ''],
    ['closed', 'open', 'token'],
  ],
  [
    ['serve', '--explorer', 'o'],
    ['off', 'on'],
  ],
  [['serve', '--port', ''], []],
  [['backup', '--fo'], ['--force']],
  [['backup', 'a'], ['a file.backup']],
  [['token', '--scope', 'bl'], ['block:submit']],
  [
    ['snapshot', ''],
    ['check', 'write'],
  ],
  [['help', 'exit'], ['exit-codes']],
  [
    ['completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
]

describe('bash completes', () => {
  const forBash = [...rows, [['serve', '--submit', '=', 'cl'], ['closed']] as const]
  test.each(forBash)('%j', async (typed, expected) => {
    const script = `source ./bash
COMP_WORDS=(ledger-gateway "$@") COMP_CWORD=$#
_ledger_gateway
printf '%s\\n' "\${COMPREPLY[@]}"`
    expect(
      await linesOf('bash', ['--noprofile', '--norc', '-c', script, 'bash', ...typed]),
    ).toEqual(expected)
  })

  test('only for this program', async () => {
    const script = 'source ./bash; complete -p ledger-gateway'
    expect(await linesOf('bash', ['--noprofile', '--norc', '-c', script])).toEqual([
      'complete -F _ledger_gateway ledger-gateway',
    ])
  })
})

describe.runIf(isInstalled('fish'))('fish completes', () => {
  test.each(rows)('%j', async (typed, expected) => {
    const line = ['ledger-gateway', ...typed].join(' ')
    const script = `source ./fish; complete -C ${JSON.stringify(line)}`
    const lines = await linesOf('fish', ['--no-config', '-c', script])
    const found = lines.map((one) => one.split('\t')[0])
    expect(found.filter((one) => one?.startsWith('--') !== true || expected.includes(one))).toEqual(
      expected,
    )
  })
})

describe.runIf(isInstalled('zsh'))('zsh', () => {
  test('accepts its script', async () => {
    expect(await linesOf('zsh', ['-n', './zsh'])).toEqual([])
  })
})

test.each(['zsh', 'fish', 'bash'] as const)(
  'the script for %s contains every command and flag',
  async (shell) => {
    const { stdout } = await runCommand(completion, [shell])
    for (const declaration of commands) {
      expect(stdout).toContain(declaration.name)
      for (const { name } of flagForms(declaration)) {
        expect(stdout).toContain(shell === 'fish' ? `-l ${name} ` : `--${name}`)
      }
    }
  },
)

test('an unknown shell is rejected', async () => {
  expect(await runCommand(completion, ['powershell'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('SHELL must be bash, zsh or fish, not powershell'),
  })
})

async function linesOf(shell: string, words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(shell, words, { cwd: folder })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((place) => {
    try {
      accessSync(join(place, program), constants.X_OK)
      return true
    } catch {
      // Not in this folder.
      return false
    }
  })
}
