import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageLock from '../../package-lock.json' with { type: 'json' }
import { rest } from '../support/rest.ts'

/** The program as it is installed for production: what `npm pack` packs, and no package of development. */

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder = ''
let entry = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-package-'))
  const run = promisify(execFile)
  const pack = ['pack', '--silent', '--pack-destination', folder]
  const { stdout } = await run('npm', pack, { cwd: root })
  await run('tar', ['-xzf', join(folder, stdout.trim().split('\n').at(-1) ?? ''), '-C', folder])
  entry = join(folder, 'package/dist/entry.cjs')
  for (const [path, locked] of Object.entries(packageLock.packages)) {
    if ('dev' in locked || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)) continue
    cpSync(join(root, path), join(folder, 'package', path), { recursive: true })
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the installed program', () => {
  test('has what it runs, and neither sources nor tests', () => {
    const names = readdirSync(join(folder, 'package')).sort()
    expect(names).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'node_modules',
      'package.json',
      'prisma',
    ])
  })

  test('takes less than 150 MB with all its packages', () => {
    const files = readdirSync(join(folder, 'package/node_modules'), {
      recursive: true,
      withFileTypes: true,
    }).filter((file) => file.isFile())
    const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
    // In blocks of the file system, as `du` counts.
    const taken = bytes.reduce((sum, size) => sum + Math.ceil(size / 4096) * 4096, 0)
    expect(taken).toBeLessThan(150e6)
    // Should a package be missing here, so would be its bytes.
    expect(taken).toBeGreaterThan(80e6)
  })

  test('starts, answers, and ends when asked, without a warning', async () => {
    const { PATH } = process.env
    const env = {
      PATH,
      PORT: '0',
      DATABASE_URL: `file:${join(folder, 'test.db')}`,
      LOG_LEVEL: 'warn',
    }
    const child = spawn(process.execPath, [entry, 'serve'], { env, cwd: folder })
    const ended = once(child, 'exit')
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const url = await new Promise<string>((resolve, reject) => {
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
        const [, found] = /GraphQL\s+(http\S+)\/graphql\n/.exec(stdout) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('exit', (code) => reject(new Error(`ended with ${code}: ${stderr}`)))
    })
    expect((await rest(`${url}/health`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(stderr).toBe('')
  })

  test('shows its demo', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [entry, 'demo'])
    expect(stdout).toMatch(/by subscription/i)
    expect(stderr).toBe('')
  })

  test('knows its version', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [entry, '--version'])
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(stdout).toBe(`${version}\n`)
  })
})
