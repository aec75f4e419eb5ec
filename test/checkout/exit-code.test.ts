import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The exit code of a test run tells whether all tests passed, because a CI job looks at nothing else. */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs one test in a folder of its own with the reporters of this run, and removes the folder. */
function runTest(body: string, globalSetup?: string) {
  // Inside the checkout, so that its packages are found, but outside the folders with tests.
  const folder = mkdtempSync(join(root, 'node_modules', '.exit-code-'))
  const reporter = JSON.stringify(join(root, 'test/support/report-lost-files.ts'))
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { reportLostFiles } from ${reporter}
     const reporters = ['default', reportLostFiles()]
     const globalSetup = ${JSON.stringify(globalSetup)}
     export default { test: { include: ['*.check.ts'], reporters, globalSetup } }`,
  )
  writeFileSync(
    join(folder, 'one.check.ts'),
    `import { expect, test } from 'vitest'\ntest('one', () => ${body})`,
  )
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const run = spawnSync(process.execPath, [vitest, 'run', '--root', folder], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return run
}

const setup = join(root, 'test/support/postgresql-setup.ts')

test.each([
  ['all tests pass', 1, 0],
  ['one test fails', 2, 1],
] as const)(
  'the exit code of a test run is right if %s',
  (_name, given, code) => {
    const { status, stdout, stderr } = runTest(`expect(${given}).toBe(1)`, setup)
    expect(stdout).toContain(code === 0 ? '1 passed' : '1 failed')
    expect(status).toBe(code)
    expect(stderr).not.toContain('A process of tests ended')
  },
  60_000,
)

test('a run whose process ended by itself fails and names the signal and the file', () => {
  const { status, stderr } = runTest(`process.kill(process.pid, 'SIGKILL')`)
  expect(stderr).toMatch(
    /^A process of tests ended by SIGKILL\.\nNo result of one\.check\.ts\. Its first tests without one: one$/m,
  )
  expect(status).toBe(1)
})
