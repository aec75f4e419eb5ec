import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StopSignal } from '../../src/cli/command.ts'
import { commandOf } from '../../src/cli/commands.ts'
import { type Declaration, flagForms } from '../../src/cli/declaration.ts'
import { commands } from '../../src/cli/help.ts'
import { Block } from '../../src/protocol/block.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { cliPage } from '../support/cli-page.ts'
import { type CommandRun, runCommand } from '../support/run-command.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { blockOf, offerOf, taggedData, untilHealth } from '../support/wallet.ts'

/** `docs/cli.md` matches the declarations, and each of its examples runs. */

test('docs/cli.md matches the declarations (npm run reference)', () => {
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  expect(page).toBe(cliPage())
})

describe('the example runs of', () => {
  let folder = ''
  let gateway: TestGateway
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-cli-'))
    gateway = await startGateway({ env: { DATABASE_URL: `file:${join(folder, 'test.db')}` } })
    await untilHealth(gateway.url)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true })
  })

  // The order matters: restore reads the file that backup writes. Other tests run demo, and the commands that need PostgreSQL or Citus.
  const rows = commands
    .filter(({ name }) => !['demo', 'partition', 'distribute'].includes(name))
    .map((one) => [one.name, one] as const)
  test.each(rows)('%s', async (_name, declaration) => {
    if (declaration.name === 'submit') await writeBlock()
    const { code, stdout, stderr } = await runExample(declaration)
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('ledger-gateway ')])
    const { prints } = declaration.example
    if (prints !== undefined) expect(shapeOf(stdout)).toBe(shapeOf(prints))
  })

  /** Writes the block just before its submission, because blocks of closed slots are rejected. */
  async function writeBlock(): Promise<void> {
    const { block } = blockOf(await offerOf(gateway.url), taggedData('0x01', '0x'))
    writeFileSync(join(folder, 'block.json'), JSON.stringify(print(Block, block)))
  }

  /** Runs an example in this process, with files in the folder of the test, on its gateway and database. */
  async function runExample(declaration: Declaration): Promise<CommandRun> {
    const [, input, line = ''] =
      /^(?:echo '(.*)' \| )?ledger-gateway (.*?)(?: > \S+)?$/.exec(declaration.example.run) ?? []
    const words = line.split(' ').map((word) => {
      const file = word.replace(/^(file:)\.\//, `$1${folder}/`)
      return /\.(backup|export|snapshot|json)$/.test(file) ? join(folder, file) : file
    })
    const takesUrl = flagForms(declaration).some(({ name }) => name === 'url')
    const [name, ...own] = [...words, ...(takesUrl ? ['--url', gateway.url] : [])].map((word) =>
      word === 'http://127.0.0.1:4000' ? gateway.url : word === '4000' ? '0' : word,
    )
    // A command that runs forever is stopped after its first output.
    let stop = () => {}
    const stopped = new Promise<StopSignal>((resolve) => {
      stop = () => resolve('SIGINT')
    })
    let stdout = ''
    const run = await runCommand({ run: await commandOf(name) }, own, {
      env: { DATABASE_URL: gateway.databaseUrl, LOG_LEVEL: 'error' },
      stdin: Readable.from(input === undefined ? [] : [Buffer.from(`${input}\n`)]),
      isTerminal: true,
      stdout: (text) => {
        stdout += text
        if (name === 'serve' || name === 'feed') stop()
      },
      stopped,
    })
    // The output as in a folder /srv with the default database name.
    const shown = stdout.replaceAll(folder, '/srv').replaceAll('/test.', '/ledger-gateway.')
    return { ...run, stdout: shown }
  }
})

/** Replaces all numbers, ids and column widths, which differ between runs, by fixed texts. */
function shapeOf(text: string): string {
  return text
    .trim()
    .replaceAll(/0x[0-9a-f]+/g, '0x')
    .replaceAll(/\d[\d.:TZ-]*/g, '1')
    .replaceAll(/ +/g, ' ')
}
