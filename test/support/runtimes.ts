import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `npm run test:runtimes [-- NODE]`: tests the packed program, the packed client, the client and the store on the newest supported
 * version of Node: the version that test/runtime/next installs, or the executable NODE.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const tests = ['test/store', 'test/client', 'test/checkout/package.test.ts']

const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-runtimes-'))
try {
  const node = process.argv[2] ?? installNode()
  if (existsSync(node)) {
    console.log(`On Node ${execFileSync(node, ['-p', 'process.versions.node'])}`)
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { status } = spawnSync(node, [vitest, 'run', ...tests], { cwd: root, stdio: 'inherit' })
    process.exitCode = status ?? 1
  } else {
    console.error('No package contains Node for this platform. Use: npm run test:runtimes -- NODE')
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Installs Node from its lock file and returns its path. If no package exists for this platform, the path does not exist. */
function installNode(): string {
  cpSync(join(root, 'test/runtime/next'), folder, { recursive: true })
  spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' })
  const isWindows = process.platform === 'win32'
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
  return join(folder, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node')
}
