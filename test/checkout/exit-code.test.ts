import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The exit code of a test run tells whether all tests passed, because a CI job looks at nothing else. */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs tests of a file of its own, with the reporters and the setup of this run, and removes the file. */
function runTests(body: string) {
  // Inside the checkout, so that its packages are found, but outside the folders with tests.
  const folder = mkdtempSync(join(root, 'node_modules', '.exit-code-'))
  const support = (name: string) => JSON.stringify(join(root, 'test/support', name))
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { reportLostFiles } from ${support('report-lost-files.ts')}
     const globalSetup = ${support('postgresql-setup.ts')}
     const reporters = ['default', reportLostFiles()]
     export default { test: { include: ['*.check.ts'], globalSetup, reporters } }`,
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

test.each([
  ['all tests pass', 1, 0],
  ['one test fails', 2, 1],
] as const)(
  'the exit code of a test run is right if %s',
  (_name, given, code) => {
    const run = runTests(`expect(${given}).toBe(1)`)
    expect(run.stdout).toContain(code === 0 ? '1 passed' : '1 failed')
    expect(run.status).toBe(code)
    expect(run.stderr).not.toContain('A process of tests ended')
  },
  60_000,
)

test('a run whose process ended by itself names the signal and the file', () => {
  const run = runTests(`process.kill(process.pid, 'SIGKILL')`)
  expect(run.status).toBe(1)
  expect(run.stderr).toMatch(/^A process of tests ended by SIGKILL\.$/m)
  expect(run.stderr).toMatch(/^No result of one\.check\.ts\. Its first tests without one: one$/m)
}, 60_000)
