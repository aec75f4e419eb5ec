import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The exit code of a test run tells whether all tests passed, because a CI job looks at nothing else. */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs one test in a folder of its own as `npm test` does, and removes the folder. */
function runTest(body: string, globalSetup?: string) {
  // Inside the checkout, so that its packages are found, but outside the folders with tests.
  const folder = mkdtempSync(join(root, 'node_modules', '.exit-code-'))
  const support = (name: string) => JSON.stringify(join(root, 'test/support', name))
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { includedFiles, reportLostFiles } from ${support('lost-files.ts')}
     const include = includedFiles(['*.check.ts'])
     const reporters = ['default', reportLostFiles()]
     export default { test: { include, reporters, globalSetup: ${JSON.stringify(globalSetup)} } }`,
  )
  writeFileSync(
    join(folder, 'one.check.ts'),
    `import { existsSync, writeFileSync } from 'node:fs'
     import { expect, test } from 'vitest'
     const kill = () => process.kill(process.pid, 'SIGKILL')
     test('one', () => { ${body} })`,
  )
  const words = [join(root, 'test/support/run-tests.ts'), '--root', folder]
  const run = spawnSync(process.execPath, words, { encoding: 'utf8' })
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
    expect(stderr).not.toContain('once more')
  },
  60_000,
)

const report =
  /^A process of tests ended by SIGKILL\.\nNo result of one\.check\.ts\. Its first tests without one: one$[\s\S]*^These files run once more:\none\.check\.ts$/m

test('a file whose process ended by itself is named and runs once more', () => {
  const once = 'if (existsSync("ended")) return; writeFileSync("ended", ""); kill()'
  const { status, stdout, stderr } = runTest(`process.chdir(import.meta.dirname); ${once}`)
  expect(stderr).toMatch(report)
  expect(stdout).toContain('1 passed')
  expect(status).toBe(0)
}, 60_000)

test('a file whose process ends by itself each time fails the run', () => {
  const { status, stderr } = runTest('kill()')
  expect(stderr).toMatch(report)
  expect(stderr.match(/ended by SIGKILL/g)).toHaveLength(2)
  expect(status).toBe(1)
}, 60_000)
