import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `npm run test:runtimes [-- NODE]`: the packed program and the packed client, and the tests of client and store, on the
 * newest Node that is supported: the one of test/runtime/next, which is fetched for it, or the program NODE.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const tests = ['test/store', 'test/client', 'test/checkout/package.test.ts']

const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-runtimes-'))
try {
  const node = process.argv[2] ?? bring()
  if (existsSync(node)) {
    console.log(`On Node ${execFileSync(node, ['-p', 'process.versions.node'])}`)
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { status } = spawnSync(node, [vitest, 'run', ...tests], { cwd: root, stdio: 'inherit' })
    process.exitCode = status ?? 1
  } else {
    console.error('No package brings Node to this platform: npm run test:runtimes -- NODE')
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Fetches Node by its lock file. Where there is none for this platform, the path leads to nothing. */
function bring(): string {
  cpSync(join(root, 'test/runtime/next'), folder, { recursive: true })
  spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' })
  const isWindows = process.platform === 'win32'
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
  return join(folder, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node')
}
