import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs Vitest with the given arguments. If processes of tests ended by themselves and nothing else failed, their files run once more and
 * decide. `lost-files.ts` has printed how the processes ended.
 */

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-lost-files-'))
const lost = join(folder, 'files')

try {
  let isPassed = run({ LOST_FILES: lost })
  if (!isPassed && existsSync(lost)) {
    const files = readFileSync(lost, 'utf8')
    console.error(`These files run once more:\n${files}`)
    isPassed = run({ TEST_FILES: files })
  }
  if (!isPassed) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}

function run(own: { readonly LOST_FILES?: string; readonly TEST_FILES?: string }): boolean {
  const words = [vitest, 'run', ...process.argv.slice(2)]
  // Without the variables of a run whose test runs this.
  const env = { ...process.env, LOST_FILES: undefined, TEST_FILES: undefined, ...own }
  const options = { stdio: 'inherit', env } as const
  return spawnSync(process.execPath, words, options).status === 0
}
