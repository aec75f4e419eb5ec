import { readdir, readFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/**
 * `npm run bench -- NAME`: runs one benchmark and prints its results. A benchmark is a file of `test/bench/suites`. Its `--help` lists its
 * options, or, if it has only words and environment variables, prints the comment of its file, which describes them.
 */

interface Suite {
  run(words: readonly string[]): Promise<void>
}

const folder = new URL('./suites/', import.meta.url)
const names = (await readdir(folder)).map((file) => file.replace(/\.ts$/, ''))
const [name = '', ...words] = process.argv.slice(2)
const file = new URL(`${name}.ts`, folder)
const comment = words.includes('--help') ? await commentOf(file) : undefined
if (comment !== undefined) {
  console.log(comment)
} else if (names.includes(name)) {
  const [cpu] = cpus()
  const date = new Date().toISOString().slice(0, 10)
  console.log(`${date}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, Node ${process.version}\n`)
  const suite: Suite = await import(file.href)
  await suite.run(words)
} else {
  console.error(`usage: npm run bench -- NAME, where NAME is one of: ${names.join(', ')}`)
  process.exitCode = 2
}

/** Returns the first comment of a benchmark without options; `undefined` for one that prints its own help, or that does not exist. */
async function commentOf(suite: URL): Promise<string | undefined> {
  const text = names.includes(name) ? await readFile(suite, 'utf8') : ''
  if (text === '' || text.includes('const help')) return undefined
  const [, comment = ''] = /^\/\*\*(.*?)\*\//ms.exec(text) ?? []
  return comment.replaceAll(/^ \* ?/gm, '').trim()
}
