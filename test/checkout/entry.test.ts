import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

/** The entry file run by a Node that is too old, from an installation and from a checkout. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const floor = packageJson.engines.node.replace('>=', '')
let folder = ''
/** Older Nodes: this one with a wrong version, and those that are installed. */
let olderNodes: readonly (readonly [version: string, command: readonly string[]])[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-entry-'))
  mkdirSync(join(folder, 'src'))
  for (const file of ['package.json', 'src/entry.cjs']) {
    copyFileSync(join(root, file), join(folder, file))
  }
  const version = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })"
  writeFileSync(join(folder, 'older.cjs'), version)
  olderNodes = [
    ['20.20.2', [process.execPath, '--require', join(folder, 'older.cjs')]],
    ...installedNodes().filter(([installed]) => isOlder(installed)),
  ]
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('the entry on an older Node', () => {
  test('fails with one sentence', async () => {
    for (const [version, command] of olderNodes) {
      const refused = await run([...command, join(folder, 'src/entry.cjs'), 'serve'])
      const message = `ledger-gateway needs Node ${floor} or newer; this is Node ${version}.\n`
      expect(refused).toEqual({ code: 1, stdout: '', stderr: message })
    }
  })

  test('runs the Node of the checkout instead, in a checkout', async () => {
    const script = inCheckout('version.cjs', 'console.log(process.versions.node, process.argv[2])')
    for (const [, command] of olderNodes) {
      const { code, stdout, stderr } = await run([...command, script, 'word'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toBe(`${process.versions.node} word\n`)
    }
  })

  test('runs a module of the checkout and its child processes on the Node of the checkout', async () => {
    const checkout = dirname(inCheckout('unused.cjs', ''))
    cpSync(join(root, 'test/runtime'), join(checkout, 'test/runtime'), { recursive: true })
    const module = `import { execSync } from 'node:child_process'
      const started: string = execSync('node -p process.versions.node').toString().trim()
      console.log(process.versions.node, started, process.argv.slice(1).join(' '))`
    writeFileSync(join(checkout, 'module.ts'), module)
    const script = join(checkout, 'test/runtime/run.cjs')
    const file = join(checkout, 'module.ts')
    const { node } = process.versions
    for (const [, command] of olderNodes) {
      const { code, stdout, stderr } = await run([...command, script, file, 'a', 'b'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toBe(`${node} ${node} ${file} a b\n`)
    }
  })

  test('forwards signals and exits with the exit code of the other process', async () => {
    const script = inCheckout(
      'signal.cjs',
      `process.on('SIGTERM', () => process.exit(7))
       process.on('SIGUSR2', () => process.exit(8))
       setInterval(() => {}, 60_000)
       console.log('ready')`,
    )
    const codes = [
      ['SIGTERM', 7],
      ['SIGUSR2', 8],
    ] as const
    for (const [, command] of olderNodes) {
      for (const [signal, code] of codes) {
        const child = start([...command, script])
        const ended = once(child, 'exit')
        if (child.stdout === null) throw new Error('it has no output')
        await once(child.stdout, 'data')
        child.kill(signal)
        expect(await ended).toEqual([code, null])
      }
    }
  })
})

describe('the exit code on', () => {
  const rows = [
    ['24.14.1', 1],
    ['24.15.0', 0],
    ['24.21.0', 0],
    ['26.0.0', 0],
    ['9.99.0', 1],
  ] as const
  test.each(rows)('Node %s is %i', async (version, code) => {
    const script = join(folder, `${version}.cjs`)
    writeFileSync(
      script,
      `Object.defineProperty(process.versions, 'node', { value: '${version}' })
       require('./src/entry.cjs')(() => {})`,
    )
    expect(await run([process.execPath, script])).toMatchObject({ code })
  })
})

/** Writes a script whose entry starts `body`, in a checkout with this Node as its Node. */
function inCheckout(name: string, body: string): string {
  const checkout = join(folder, 'checkout')
  if (!existsSync(checkout)) {
    const platform = process.platform === 'win32' ? 'win' : process.platform
    const bin = join(checkout, `node_modules/node-${platform}-${process.arch}/bin`)
    mkdirSync(bin, { recursive: true })
    mkdirSync(join(checkout, 'src'))
    symlinkSync(process.execPath, join(bin, platform === 'win' ? 'node.exe' : 'node'))
    for (const file of ['package.json', 'src/entry.cjs']) {
      copyFileSync(join(root, file), join(checkout, file))
    }
  }
  const script = join(checkout, name)
  writeFileSync(script, `require('./src/entry.cjs')(() => {\n${body}\n})\n`)
  return script
}

/** Returns every Node on the path with its version. */
function installedNodes(): [version: string, command: readonly string[]][] {
  const folders = new Set((process.env.PATH ?? '').split(delimiter))
  return [...folders]
    .map((path) => join(path, 'node'))
    .filter((file) => existsSync(file))
    .map((file) => [execFileSync(file, ['-p', 'process.versions.node']).toString().trim(), [file]])
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [floorMajor = 0, floorMinor = 0] = floor.split('.').map(Number)
  return major < floorMajor || (major === floorMajor && minor < floorMinor)
}

function start([file = '', ...words]: readonly string[]): ChildProcess {
  return spawn(file, words, { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function run(command: readonly string[]) {
  const child = start(command)
  if (child.stdout === null || child.stderr === null) throw new Error('it has no output')
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, stdout, stderr }
}
