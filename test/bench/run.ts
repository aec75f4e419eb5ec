import { readdir } from 'node:fs/promises'
import { cpus } from 'node:os'

/**
 * `npm run bench -- NAME`: runs one benchmark and prints its results. A benchmark is a file of `test/bench/suites`. Some accept
 * options, which `--help` lists.
 */

interface Suite {
  run(words: readonly string[]): Promise<void>
}

const folder = new URL('./suites/', import.meta.url)
const names = (await readdir(folder)).map((file) => file.replace(/\.ts$/, ''))
const [name = '', ...words] = process.argv.slice(2)
if (names.includes(name)) {
  const [cpu] = cpus()
  const date = new Date().toISOString().slice(0, 10)
  console.log(`${date}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, Node ${process.version}\n`)
  const suite: Suite = await import(new URL(`${name}.ts`, folder).href)
  await suite.run(words)
} else {
  console.error(`usage: npm run bench -- NAME, where NAME is one of: ${names.join(', ')}`)
  process.exitCode = 2
}
